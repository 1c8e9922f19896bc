/**
 * A webhook of whatever e-shop, switched by an operator.
 * @module
 */
import type { Pool } from '../pool.ts';
import { eshopOfWebhook } from './all-webhooks.ts';
import { findWebhook, setActive } from './webhooks.ts';

/**
 * Activates or deactivates it, as its e-shop would.
 * @returns whether that changed anything; null where there is no such webhook
 */
export async function switchWebhook(sql: Pool, id: number, active: boolean): Promise<boolean | null> {
  const eshopId = await eshopOfWebhook(sql, id);
  const before = eshopId === null ? null : await findWebhook(sql, eshopId, id);
  if (eshopId === null || before === null) return null;
  return (await setActive(sql, eshopId, id, active)) === null ? null : before.active !== active;
}
