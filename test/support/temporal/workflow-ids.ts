/** The id of a delivery's workflow, according to the database. */
import type { Sql } from '../../../src/db/connection/pool.ts';
import { deliveryTarget } from '../../../src/db/deliveries/delivery-log.ts';
import { deliveryWorkflowId } from '../../../workflows/delivery-id.ts';

export async function workflowIdOf(sql: Sql, deliveryId: string): Promise<string> {
  const place = await deliveryTarget(sql, deliveryId);
  if (place === null) throw new Error(`no delivery ${deliveryId}`);
  return deliveryWorkflowId(place);
}
