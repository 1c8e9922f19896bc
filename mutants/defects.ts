/**
 * All mutants. Each survived the tests once, or takes away a guard that nothing else replaces.
 */
import type { Defect } from './defect.ts';
import { batchDefects } from './defects/batches.ts';
import { consoleDefects } from './defects/console.ts';
import { deliveryDefects } from './defects/deliveries.ts';
import { deliveryLogDefects } from './defects/delivery-log.ts';
import { engineDefects } from './defects/engine.ts';
import { incidentDefects } from './defects/incidents.ts';
import { limitDefects } from './defects/limits.ts';
import { listDefects } from './defects/lists.ts';
import { operatorDefects } from './defects/operators.ts';
import { orderDefects } from './defects/orders.ts';
import { recordDefects } from './defects/records.ts';
import { recoveryDefects } from './defects/recoveries.ts';
import { relayDefects } from './defects/relay.ts';
import { retentionDefects } from './defects/retention.ts';
import { severalEshopsDefects } from './defects/several-eshops.ts';
import { testDeliveryDefects } from './defects/test-deliveries.ts';
import { traceDefects } from './defects/traces.ts';
import { wireDefects } from './defects/wire.ts';

export const defects: readonly Defect[] = [
  ...relayDefects,
  ...batchDefects,
  ...wireDefects,
  ...deliveryDefects,
  ...recordDefects,
  ...listDefects,
  ...operatorDefects,
  ...orderDefects,
  ...limitDefects,
  ...engineDefects,
  ...retentionDefects,
  ...deliveryLogDefects,
  ...testDeliveryDefects,
  ...traceDefects,
  ...recoveryDefects,
  ...incidentDefects,
  ...consoleDefects,
  ...severalEshopsDefects,
];
