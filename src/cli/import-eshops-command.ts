/** `waybill import-eshops`: e-shops and users of another system, from a file (docs/interface.md, A8). */
import type { Command } from 'commander';
import * as v from 'valibot';
import { readSettings } from '../config/config.ts';
import { findImportedEshop, insertEshop, lockImports } from '../db/accounts/eshops.ts';
import { createUser } from '../db/accounts/users.ts';
import type { Pool } from '../db/connection/pool.ts';
import { transaction } from '../db/transaction.ts';
import { email, text, withoutProblem } from '../domain/fields.ts';
import { type Role, roles } from '../domain/role.ts';
import { validate } from '../domain/validation.ts';
import { type CommandContext, runs } from '../lib/command-line.ts';
import { hashApiKey, newApiKey } from '../secrets/keys.ts';
import { foreignHashProblem, hashPassword, newPassword } from '../secrets/passwords.ts';
import { readImport } from './imports/import-lines.ts';
import { lineFields, textFieldOf } from './imports/problem.ts';
import { importOptions, type Outcome, runImport } from './imports/run-import.ts';
import { withDatabase } from './open-database.ts';

const user = v.strictObject({
  username: text(200, 1),
  role: v.picklist(roles, 'must be shop or warehouse'),
  passwordHash: v.nullish(v.pipe(text(1_000), withoutProblem(foreignHashProblem)), null),
});
/** A line of the file. A key or password whose hash is null is generated. */
const eshopSchema = v.strictObject({
  name: v.pipe(text(200), v.trim(), v.minLength(1, 'must not be empty')),
  email: email(),
  apiKeyHash: v.nullish(
    v.pipe(
      v.string('must be text'),
      v.regex(/^[0-9a-f]{64}$/i, 'must be the SHA-256 of the API key, in hexadecimal'),
    ),
    null,
  ),
  users: v.nullish(
    v.pipe(
      v.array(user, 'must be a list'),
      v.maxLength(100, 'must have at most 100 entries'),
      v.check(
        (all) => new Set(all.map(({ username }) => username)).size === all.length,
        'must not have two of the same username',
      ),
    ),
    [],
  ),
});

/** The outcome of a line, also in a dry run; generated keys and passwords are shown once. */
interface EshopResult {
  readonly outcome: Outcome;
  /** The number of the e-shop; null if there is none. */
  readonly eshop: number | null;
  readonly name: string | null;
  readonly apiKey?: string;
  readonly users: readonly { readonly username: string; readonly role: Role; readonly password?: string }[];
  readonly note: string | null;
}

/** Creates an e-shop with its users; if it exists already, the result is its number, as `existing`. */
async function importEshop(sql: Pool, eshop: v.InferOutput<typeof eshopSchema>) {
  const created = await Promise.all(
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
    for (const { user, passwordHash } of created) {
      await createUser(tx, { eshopId, username: user.username, role: user.role, passwordHash });
    }
    return { eshop: eshopId, ...(apiKey === null ? {} : { apiKey }), users: created.map(({ user }) => user) };
  });
}

/** Makes a function that imports one value after the other, and throws a Problem if one is refused. */
function eshopImport(sql: Pool, dryRun: boolean): (value: unknown) => Promise<EshopResult> {
  /** The e-shops that a dry run would have created. */
  const planned = new Set<string>();

  return async (value) => {
    const eshop = validate(eshopSchema, lineFields(value));
    const { name } = eshop;
    const users = eshop.users.map(({ username, role }) => ({ username, role }));
    const skipped = (note: string, id: number | null = null): EshopResult => {
      return { outcome: 'skipped', eshop: id, name, users: [], note };
    };
    const alreadyExists = (id: number) => skipped(`e-shop ${id} exists already`, id);
    if (dryRun) {
      const existing = await findImportedEshop(sql, eshop);
      if (existing !== null) return alreadyExists(existing);
      const marks = [
        JSON.stringify([name, eshop.email]),
        ...(eshop.apiKeyHash === null ? [] : [eshop.apiKeyHash.toLowerCase()]),
      ];
      if (marks.some((mark) => planned.has(mark))) return skipped('an earlier line is the same e-shop');
      for (const mark of marks) planned.add(mark);
      return { outcome: 'created', eshop: null, name, users, note: null };
    }
    const created = await importEshop(sql, eshop);
    if ('existing' in created) return alreadyExists(created.existing);
    return { outcome: 'created', ...created, name, note: null };
  };
}

const refusedEshop = (value: unknown, note: string): EshopResult => ({
  outcome: 'refused',
  eshop: null,
  name: textFieldOf(value, 'name'),
  users: [],
  note,
});

export function importEshopsCommand(command: Command, { env, print }: CommandContext): void {
  command.addHelpText(
    'after',
    '\nAn e-shop that exists already is skipped. Exit code: 0 none refused, 1 could not be run, 2 some refused.',
  );
  runs(command, importOptions, async ({ dryRun, json, file }) => {
    await withDatabase(readSettings(env), async (sql) =>
      runImport({
        noun: 'e-shop',
        lines: await readImport(file, eshopSchema.entries),
        importOne: eshopImport(sql, dryRun),
        refused: refusedEshop,
        cells: ({ eshop, name, apiKey, users, note }) => ({
          'e-shop': eshop ?? '',
          name: name ?? '',
          users: users
            .map(({ username, password }) => [username, password].filter(Boolean).join(' / '))
            .join(', '),
          note: apiKey === undefined ? (note ?? '') : `x-api-key ${apiKey}`,
        }),
        dryRun,
        json,
        print,
      }),
    );
  });
}
