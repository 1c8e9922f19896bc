/** E-shops and users created by an operator: passwords are generated here, stored as hashes, and shown once. */
import postgres from 'postgres';
import * as v from 'valibot';
import { createEshop } from '../db/accounts/eshops.ts';
import * as users from '../db/accounts/users.ts';
import type { Pool, Sql } from '../db/connection/pool.ts';
import { transaction } from '../db/transaction.ts';
import type { Role } from '../domain/role.ts';
import { UserError } from '../lib/user-error.ts';
import { hashPassword, newPassword } from '../secrets/passwords.ts';

const credentialsSchema = v.object({ username: v.string(), password: v.string() });
const demonstrationSchema = v.object({
  eshopId: v.number(),
  apiKey: v.string(),
  ...credentialsSchema.entries,
  warehouse: credentialsSchema,
});
/** Everything needed to log in, as printed by `waybill eshop create --json`. */
export type EshopCredentials = v.InferOutput<typeof demonstrationSchema>;

export function parseCredentials(text: string | undefined): EshopCredentials | undefined {
  const result = v.safeParse(v.pipe(v.string(), v.parseJson(), demonstrationSchema), text);
  return result.success ? result.output : undefined;
}

export const noSuchEshop = (eshopId: number) => new UserError(`E-shop ${eshopId} does not exist.`);

export const noSuchUser = (eshopId: number, username: string) =>
  new UserError(
    `E-shop ${eshopId} has no user "${username}"; waybill user list --eshop ${eshopId} shows them.`,
  );

/** @returns the credentials, shown once */
export async function createEshopWithUsers(
  sql: Pool,
  eshop: { readonly name: string; readonly email: string },
): Promise<EshopCredentials> {
  return await transaction(sql, async (tx) => {
    const { eshopId, apiKey } = await createEshop(tx, eshop);
    const newUser = async (role: Role) => {
      const { password } = await createUser(tx, { eshopId, username: role, role });
      return { username: role, password };
    };
    return { eshopId, apiKey, ...(await newUser('shop')), warehouse: await newUser('warehouse') };
  });
}

/** @throws UserError when there is no such e-shop, or when it has a user of this name */
export async function createUser(
  sql: Sql,
  user: { readonly eshopId: number; readonly username: string; readonly role: Role },
): Promise<{ userId: number; password: string }> {
  const password = newPassword();
  const passwordHash = await hashPassword(password);
  try {
    return { userId: await users.createUser(sql, { ...user, passwordHash }), password };
  } catch (error) {
    throw refused(error, user);
  }
}

/** The error for a violated foreign or unique key. */
function refused(error: unknown, { eshopId, username }: { eshopId: number; username: string }): unknown {
  if (!(error instanceof postgres.PostgresError)) return error;
  if (error.code === '23503') return noSuchEshop(eshopId);
  if (error.code === '23505') {
    return new UserError(`E-shop ${eshopId} already has a user "${username}"; choose another --username.`);
  }
  return error;
}

/**
 * Earlier tokens no longer work.
 * @throws UserError when there is no such user
 */
export async function replacePassword(sql: Pool, eshopId: number, username: string): Promise<string> {
  const password = newPassword();
  const hash = await hashPassword(password);
  if (!(await users.replacePassword(sql, eshopId, username, hash))) throw noSuchUser(eshopId, username);
  return password;
}
