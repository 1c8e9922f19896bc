/** Tokens of the links that confirm further addresses (docs/interface.md, N6). */
import { createHash, randomBytes } from 'node:crypto';
import { CONFIRMATION_DAYS } from '../../domain/notifications.ts';
import type { Sql } from '../pool.ts';

export const tokenHash = (token: string): Buffer => createHash('sha256').update(token, 'utf8').digest();

/** Makes a token for the link to one address. Earlier ones stay valid: a mail may be sent twice. */
export async function newToken(sql: Sql, addressId: number): Promise<string> {
  const token = randomBytes(32).toString('base64url');
  await sql`
    insert into notice_tokens (token_hash, address_id, expires_at)
    values (${tokenHash(token)}, ${addressId}, now() + make_interval(days => ${CONFIRMATION_DAYS}))`;
  return token;
}
