/** The ids of deliveries' workflows, according to the database. */
import type { Sql } from '../../src/db/pool.ts';
import { deliveryTarget } from '../../src/db/webhooks/delivery-log.ts';
import { deliveryWorkflowId } from '../../workflows/delivery-id.ts';

/** Of one delivery. */
export async function workflowIdOf(sql: Sql, deliveryId: string): Promise<string> {
  const place = await deliveryTarget(sql, deliveryId);
  if (place === null) throw new Error(`no delivery ${deliveryId}`);
  return deliveryWorkflowId(place);
}

/** Of all deliveries. */
export async function allWorkflowIds(sql: Sql): Promise<string[]> {
  const rows = await sql<{ id: string }[]>`select id from deliveries`;
  return await Promise.all(rows.map(({ id }) => workflowIdOf(sql, id)));
}
