/**
 * Users of an e-shop.
 * @module
 */
import type { Role } from '../domain/role.ts';
import type { Sql } from './pool.ts';

/** A user with what a login needs. */
export interface UserRow {
  readonly id: number;
  readonly eshopId: number;
  readonly username: string;
  readonly role: Role;
  readonly passwordHash: string;
}

/** A user to be created. */
export interface NewUser {
  readonly eshopId: number;
  readonly username: string;
  readonly role: Role;
  /** From `hashPassword`. */
  readonly passwordHash: string;
}

/**
 * Creates a user.
 * @returns the new id
 * @throws PostgresError 23505 when the e-shop has a user of this name, 23503 when there is no such e-shop
 */
export async function createUser(sql: Sql, user: NewUser): Promise<number> {
  const [row] = await sql<{ id: number }[]>`
    insert into users (eshop_id, username, role, password_hash)
    values (${user.eshopId}, ${user.username}, ${user.role}, ${user.passwordHash})
    returning id`;
  if (row === undefined) throw new Error('The user was not written.');
  return row.id;
}

/** The user of this name in this e-shop, or null. */
export async function findUser(sql: Sql, eshopId: number, username: string): Promise<UserRow | null> {
  const [row] = await sql<UserRow[]>`
    select id, eshop_id, username, role, password_hash
    from users where eshop_id = ${eshopId} and username = ${username}`;
  return row ?? null;
}
