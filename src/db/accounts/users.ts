/** Users of an e-shop. */
import type { Role } from '../../domain/role.ts';
import { hashApiKey } from '../../secrets/keys.ts';
import { firstRow, oneRow, type Pool, type Sql } from '../connection/pool.ts';
import { grouped } from '../grouped.ts';
import { recordset } from '../sql.ts';

/** A user with the data that a login needs. */
export interface UserRow {
  readonly id: number;
  readonly eshopId: number;
  readonly username: string;
  readonly role: Role;
  readonly passwordHash: string;
  /** The cost of checking the hash: one of {@link passwordKinds}; null for a damaged hash. */
  readonly passwordKind: string | null;
  /** From 1, raised with every new password. */
  readonly passwordVersion: number;
}

/**
 * Creates a user.
 * @param user `passwordHash` is from `hashPassword`
 * @returns the new id
 * @throws PostgresError 23505 if the e-shop has a user of this name, 23503 if there is no such e-shop
 */
export async function createUser(
  sql: Sql,
  user: Pick<UserRow, 'eshopId' | 'username' | 'role' | 'passwordHash'>,
): Promise<number> {
  const row = await oneRow(sql<{ id: number }[]>`
    insert into users (eshop_id, username, role, password_hash)
    values (${user.eshopId}, ${user.username}, ${user.role}, ${user.passwordHash})
    returning id`);
  return row.id;
}

/** The user of this name in this e-shop; null if there is none or the e-shop is disabled. */
export async function findUser(sql: Sql, eshopId: number, username: string): Promise<UserRow | null> {
  return await firstRow(sql<UserRow[]>`
    select u.id, u.eshop_id, u.username, u.role, u.password_hash, u.password_kind, u.password_version
    from users u join eshops e on e.id = u.eshop_id
    where u.eshop_id = ${eshopId} and u.username = ${username} and e.disabled_at is null`);
}

interface ListedUser extends Pick<UserRow, 'id' | 'username' | 'role'> {
  readonly createdAt: Date;
}

/** The users of an e-shop in the order of their ids; null when there is no such e-shop. */
export async function listUsers(sql: Sql, eshopId: number): Promise<ListedUser[] | null> {
  const rows = await sql<ListedUser[]>`
    select id, username, role, created_at from users where eshop_id = ${eshopId} order by id`;
  if (rows.length > 0) return rows;
  const [eshop] = await sql`select 1 from eshops where id = ${eshopId}`;
  return eshop === undefined ? null : [];
}

/** Deletes a user; its tokens stop working. False when the e-shop has no such user. */
export async function deleteUser(sql: Sql, eshopId: number, username: string): Promise<boolean> {
  const rows =
    await sql`delete from users where eshop_id = ${eshopId} and username = ${username} returning id`;
  return rows.length > 0;
}

/** Replaces a password; tokens issued before stop working. @returns false when the e-shop has no such user */
export async function replacePassword(sql: Sql, eshopId: number, username: string, passwordHash: string) {
  const rows = await sql`
    update users set password_hash = ${passwordHash}, password_version = password_version + 1
    where eshop_id = ${eshopId} and username = ${username} returning id`;
  return rows.length > 0;
}

/** The distinct algorithms and parameters of the stored hashes, for `verifyInConstantTime`. */
export async function passwordKinds(sql: Sql): Promise<string[]> {
  // The index leads from each kind to the next: there may be many users, but there are few kinds.
  const rows = await sql<{ kind: string }[]>`
    with recursive kinds (kind) as (
      select min(password_kind) from users
      union all
      select (select min(password_kind) from users where password_kind > kind) from kinds where kind is not null)
    select kind from kinds where kind is not null`;
  return rows.map(({ kind }) => kind);
}

/** Stores another hash of the same password: tokens stay valid. Nothing happens if it has been replaced since. */
export async function rehashPassword(
  sql: Sql,
  { id, passwordHash }: Pick<UserRow, 'id' | 'passwordHash'>,
  newHash: string,
): Promise<void> {
  await sql`update users set password_hash = ${newHash} where id = ${id} and password_hash = ${passwordHash}`;
}

interface TokenCheck {
  /** SHA-256 in hexadecimal. */
  readonly apiKeyHash: string;
  readonly eshopId: number;
  readonly userId: number;
  readonly role: Role;
  readonly passwordVersion: number;
}
const columns: Readonly<Record<keyof TokenCheck, string>> = {
  apiKeyHash: 'text',
  eshopId: 'int',
  userId: 'int',
  role: 'text',
  passwordVersion: 'int',
};
/** The most questions in a statement. */
const MAX_QUESTIONS = 50;

/**
 * Checks whether a token still opens the e-shop of the API key: the e-shop is enabled, the user exists, and role and
 * password are the same. Simultaneous checks share one statement.
 * @returns a function that returns the database's time if the token is valid, otherwise null
 */
export function createMayUse(sql: Pool) {
  const ask = grouped<TokenCheck, Date | null>(MAX_QUESTIONS, (asking) => allowed(sql, asking));
  return (apiKey: string, user: Pick<TokenCheck, 'eshopId' | 'userId' | 'role'>, passwordVersion: number) => {
    const { eshopId, userId, role } = user;
    return ask({ apiKeyHash: hashApiKey(apiKey).toString('hex'), eshopId, userId, role, passwordVersion });
  };
}

async function allowed(sql: Pool, asking: readonly TokenCheck[]) {
  const rows = await sql<{ place: number; now: Date }[]>`
    select asking.place::int as place, clock_timestamp() as now
    from ${recordset(sql, JSON.stringify(asking), 'asking', columns)}
    join eshops e on e.id = asking.eshop_id and e.api_key_hash = decode(asking.api_key_hash, 'hex')
    join users u on u.id = asking.user_id and u.eshop_id = e.id
    where e.disabled_at is null and u.role = asking.role and u.password_version = asking.password_version`;
  const times = new Map(rows.map(({ place, now }) => [asking[place - 1], now]));
  return (asked: TokenCheck) => times.get(asked) ?? null;
}
