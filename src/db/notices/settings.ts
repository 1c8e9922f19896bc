/** The choice of an e-shop: which notices it gets, and where (docs/interface.md, N1 to N7). */
import type { EshopRecord } from '../../domain/eshop.ts';
import {
  addressesOf,
  CONFIRMATION_DAYS,
  CONFIRMATIONS_PER_DAY,
  type NotificationsPatch,
} from '../../domain/notifications.ts';
import { invalid, tooManyRequests } from '../../domain/problem.ts';
import { oneRow, type Pool, type Sql } from '../connection/pool.ts';
import { isoTime } from '../sql.ts';
import { transaction } from '../transaction.ts';

/** @throws Error when there is no such e-shop */
export async function readEshop(sql: Sql, eshopId: number): Promise<EshopRecord> {
  const row = await oneRow(sql<EshopRecord[]>`
    select id, name, email, json_build_object(
      'warning', warning_mails, 'recovered', recovered_notices, 'emails', (
        select coalesce(json_agg(json_build_object(
          'address', a.address, 'confirmedAt', ${sql.unsafe(isoTime('a.confirmed_at'))}) order by a.id), '[]')
        from notice_addresses a where a.eshop_id = s.id), 'url', notice_url, 'format', notice_format) as notifications
    from eshops s where id = ${eshopId}`);
  return { ...row };
}

/** The data that a change needs besides itself. */
interface ChangeTerms {
  /** Whether mails can have links to our pages. */
  readonly canLink: boolean;
  seal(secret: string): Buffer;
  newSecret(): string;
}

/**
 * Changes the given settings, all or none.
 * @returns the e-shop, and the secret that was made or set now; null if it stayed as it was
 * @throws Problem 400 for new addresses if mails have no links, and for a secret without a URL that it signs for; 429
 * if today's mails that ask for a confirmation are used up
 */
export async function changeNotifications(
  sql: Pool,
  eshopId: number,
  change: NotificationsPatch,
  terms: ChangeTerms,
): Promise<{ readonly eshop: EshopRecord; readonly secret: string | null }> {
  return await transaction(sql, async (tx) => {
    await setChoice(tx, eshopId, change);
    const secret = await setUrl(tx, eshopId, change, terms);
    if (change.emails !== undefined) await setAddresses(tx, eshopId, addressesOf(change.emails ?? []), terms);
    return { eshop: await readEshop(tx, eshopId), secret };
  });
}

/** Locks the e-shop's row as well: changes follow one another. */
export async function setChoice(tx: Sql, eshopId: number, change: NotificationsPatch): Promise<void> {
  const { warning = null, recovered = null, format = null } = change;
  await tx`
    update eshops set warning_mails = coalesce(${warning}, warning_mails),
      recovered_notices = coalesce(${recovered}, recovered_notices), notice_format = coalesce(${format}, notice_format)
    where id = ${eshopId}`;
}

/** @returns the secret that was made or set */
async function setUrl(
  tx: Sql,
  eshopId: number,
  { url, secret: given }: NotificationsPatch,
  { seal, newSecret }: ChangeTerms,
): Promise<string | null> {
  if (url === undefined && given === undefined) return null;
  const [before] = await tx<{ noticeUrl: string | null }[]>`
    select notice_url from eshops where id = ${eshopId}`;
  const former = before?.noticeUrl ?? null;
  const next = url === undefined ? former : url;
  if (next === null) {
    if (given !== undefined && given !== null)
      throw invalid([{ path: 'notifications.secret', message: 'needs a url' }]);
    await tx`update eshops set notice_url = null, notice_secret = null where id = ${eshopId}`;
    return null;
  }
  const secret = given === undefined ? (former === null ? newSecret() : null) : (given ?? newSecret());
  await tx`
    update eshops set notice_url = ${next}, notice_secret = coalesce(${secret === null ? null : seal(secret)}, notice_secret)
    where id = ${eshopId}`;
  return secret;
}

/** Removes addresses that are not listed, keeps those that are, and asks new ones for a confirmation. */
async function setAddresses(
  tx: Sql,
  eshopId: number,
  addresses: readonly string[],
  { canLink }: ChangeTerms,
): Promise<void> {
  const listed = addresses.map((address) => address.toLowerCase());
  await tx`
    delete from notice_addresses where eshop_id = ${eshopId} and lower(address) <> all(${listed}::text[])`;
  const requestedIds: number[] = [];
  for (const address of addresses) {
    // An unconfirmed address is asked again if its link has expired.
    const [row] = await tx<{ id: number }[]>`
      insert into notice_addresses as a (eshop_id, address) values (${eshopId}, ${address})
      on conflict (eshop_id, lower(address)) do update set asked_at = now()
        where a.confirmed_at is null and a.asked_at < now() - make_interval(days => ${CONFIRMATION_DAYS})
      returning id`;
    if (row !== undefined) requestedIds.push(row.id);
  }
  if (requestedIds.length === 0) return;
  if (!canLink) {
    const message =
      'cannot be confirmed: the operator of the warehouse has not set the address of this service (PUBLIC_URL)';
    throw invalid([{ path: 'notifications.emails', message }]);
  }
  const recent = await tx<{ at: Date; waitMs: number }[]>`
    select at, extract(epoch from at + interval '1 day' - now())::float8 * 1000 as wait_ms
    from notices where eshop_id = ${eshopId} and kind = 'confirmation' and at > now() - interval '1 day' order by at`;
  const beyond = recent.length + requestedIds.length - CONFIRMATIONS_PER_DAY;
  if (beyond > 0) {
    const retryAfterMs = recent[Math.min(beyond, recent.length) - 1]?.waitMs ?? 0;
    throw tooManyRequests('Ten confirmation mails have been sent within a day.', retryAfterMs);
  }
  for (const id of requestedIds) {
    await tx`
      insert into notices (eshop_id, kind, recipient, address_id)
      values (${eshopId}, 'confirmation', 'address', ${id})`;
  }
}
