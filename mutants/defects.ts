/** All mutants: each breaks an invariant that no second control protects. */
import type { Defect } from './defect.ts';
import { deliveryDefects } from './defects/deliveries.ts';
import { queueDefects } from './defects/queue.ts';
import { recordDefects } from './defects/records.ts';
import { relayDefects } from './defects/relay.ts';
import { tenantDefects } from './defects/tenants.ts';

export const defects: readonly Defect[] = [
  ...relayDefects,
  ...queueDefects,
  ...recordDefects,
  ...deliveryDefects,
  ...tenantDefects,
];
