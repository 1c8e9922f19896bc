/** A webhook of whatever e-shop, switched by an operator. */
import type { Pool } from '../pool.ts';
import { eshopOfWebhook } from './all-webhooks.ts';
import { switchActive } from './webhooks.ts';

/** @returns whether that changed anything; null where there is no such webhook */
export async function switchWebhook(sql: Pool, id: number, active: boolean): Promise<boolean | null> {
  const eshopId = await eshopOfWebhook(sql, id);
  const switched = eshopId === null ? null : await switchActive(sql, eshopId, id, active);
  return switched === null ? null : switched.changed;
}
