/** The example of docs/changing-workflows.md, step 3: the same change as `without-patch.ts`, behind `patched()`. */
import { patched } from '@temporalio/workflow';
import { deliverEvent as before } from '../../../workflows/deliver-event.ts';
import type { DeliverEventInput } from '../../../workflows/delivery-types.ts';
import { deliverEvent as after } from './without-patch.ts';

export async function deliverEvent(input: DeliverEventInput) {
  return patched('read-first') ? await after(input) : await before(input);
}
