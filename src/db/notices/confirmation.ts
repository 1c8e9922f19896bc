/** Confirmations of further addresses (docs/interface.md, N6): the tokens of their links, and what a link proves. */
import { createHash, randomBytes } from 'node:crypto';
import { CONFIRMATION_DAYS } from '../../domain/notifications.ts';
import { firstRow, type Sql } from '../connection/pool.ts';

const tokenHash = (token: string): Buffer => createHash('sha256').update(token, 'utf8').digest();

/** Makes a token for the link to one address. Earlier ones stay valid: a mail may be sent twice. */
export async function newToken(sql: Sql, addressId: number): Promise<string> {
  const token = randomBytes(32).toString('base64url');
  await sql`
    insert into notice_tokens (token_hash, address_id, expires_at)
    values (${tokenHash(token)}, ${addressId}, now() + make_interval(days => ${CONFIRMATION_DAYS}))`;
  return token;
}

/** The address that a link is about. */
export interface Confirmable {
  readonly address: string;
  readonly eshopName: string;
  readonly confirmed: boolean;
}

/** @returns null for a token that was never given out, has expired, or whose address was removed */
export async function findConfirmable(sql: Sql, token: string): Promise<Confirmable | null> {
  return await firstRow(sql<Confirmable[]>`
    select a.address, s.name as eshop_name, a.confirmed_at is not null as confirmed
    from notice_tokens t join notice_addresses a on a.id = t.address_id join eshops s on s.id = a.eshop_id
    where t.token_hash = ${tokenHash(token)} and t.expires_at > now()`);
}

/** Confirms the address of a link; a second time changes nothing. @returns as `findConfirmable` */
export async function confirmAddress(sql: Sql, token: string): Promise<Confirmable | null> {
  await sql`
    update notice_addresses a set confirmed_at = now() from notice_tokens t
    where t.token_hash = ${tokenHash(token)} and t.expires_at > now() and a.id = t.address_id and a.confirmed_at is null`;
  return await findConfirmable(sql, token);
}
