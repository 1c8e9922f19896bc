/** All mutants: each breaks an invariant that no second control protects. */
import type { Defect } from './defect.ts';
import { batchDefects } from './defects/batches.ts';
import { deliveryDefects } from './defects/deliveries.ts';
import { recordDefects } from './defects/records.ts';
import { relayDefects } from './defects/relay.ts';
import { tenantDefects } from './defects/tenants.ts';

export const defects: readonly Defect[] = [
  ...relayDefects,
  ...batchDefects,
  ...recordDefects,
  ...deliveryDefects,
  ...tenantDefects,
];
