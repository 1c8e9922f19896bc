/** E-shops and users created by an operator: passwords are generated here, stored as hashes, and shown once. */
import postgres from 'postgres';
import * as v from 'valibot';
import { createEshop, findImportedEshop, insertEshop, lockImports } from '../db/eshops.ts';
import type { Pool, Sql } from '../db/pool.ts';
import { transaction } from '../db/transaction.ts';
import * as users from '../db/users.ts';
import type { Role } from '../domain/role.ts';
import { UserError } from '../lib/user-error.ts';
import { hashApiKey, newApiKey } from '../secrets/keys.ts';
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
    const made = async (role: Role) => {
      const { password } = await createUser(tx, { eshopId, username: role, role });
      return { username: role, password };
    };
    return { eshopId, apiKey, ...(await made('shop')), warehouse: await made('warehouse') };
  });
}

/** An e-shop of another system. A hash is null if it has none: then a key or password is generated. */
interface ForeignEshop {
  readonly name: string;
  readonly email: string;
  /** SHA-256 in hexadecimal. */
  readonly apiKeyHash: string | null;
  readonly users: readonly {
    readonly username: string;
    readonly role: Role;
    readonly passwordHash: string | null;
  }[];
}
/** The e-shop created; keys and passwords are shown once. */
export interface ImportedEshop {
  readonly eshop: number;
  readonly apiKey?: string;
  readonly users: readonly { readonly username: string; readonly role: Role; readonly password?: string }[];
}

/**
 * Creates an e-shop with its users, unless it exists.
 * @returns the e-shop with generated keys and passwords, shown once; or the number of the existing one, as `existing`
 */
export async function importEshop(
  sql: Pool,
  eshop: ForeignEshop,
): Promise<ImportedEshop | { readonly existing: number }> {
  const made = await Promise.all(
    eshop.users.map(async ({ username, role, passwordHash }) => {
      if (passwordHash !== null) return { user: { username, role }, passwordHash };
      const password = newPassword();
      return { user: { username, role, password }, passwordHash: await hashPassword(password) };
    }),
  );
  const apiKey = eshop.apiKeyHash === null ? newApiKey() : null;
  const apiKeyHash = apiKey === null ? Buffer.from(eshop.apiKeyHash ?? '', 'hex') : hashApiKey(apiKey);
  return await transaction(sql, async (tx) => {
    await lockImports(tx);
    const existing = await findImportedEshop(tx, eshop);
    if (existing !== null) return { existing };
    const eshopId = await insertEshop(tx, eshop, apiKeyHash);
    for (const { user, passwordHash } of made) {
      await users.createUser(tx, { eshopId, username: user.username, role: user.role, passwordHash });
    }
    return { eshop: eshopId, ...(apiKey === null ? {} : { apiKey }), users: made.map(({ user }) => user) };
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
