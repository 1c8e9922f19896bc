/** `waybill import-eshops`: e-shops and users of another system, from a file (docs/interface.md, A8). */
import type { Command } from 'commander';
import * as v from 'valibot';
import { type ImportedEshop, importEshop } from '../app/accounts.ts';
import { readSettings } from '../config/config.ts';
import { findImportedEshop } from '../db/eshops.ts';
import type { Pool } from '../db/pool.ts';
import { email, text, withoutProblem } from '../domain/fields.ts';
import { roles } from '../domain/role.ts';
import { validate } from '../domain/validation.ts';
import { type CommandContext, flag, runs } from '../lib/command-line.ts';
import { foreignHashProblem } from '../secrets/passwords.ts';
import { readImport } from './imports/import-lines.ts';
import { lineFields, textFieldOf } from './imports/problem.ts';
import { type Outcome, runImport } from './imports/run-import.ts';
import { withDatabase } from './open-database.ts';

const user = v.strictObject({
  username: text(200, 1),
  role: v.picklist(roles, 'must be shop or warehouse'),
  passwordHash: v.nullish(v.pipe(text(1_000), withoutProblem(foreignHashProblem)), null),
});
/** A line. */
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

/** The outcome of a line, or that of a dry run. */
interface EshopResult extends Omit<ImportedEshop, 'eshop'> {
  readonly outcome: Outcome;
  /** The number of the e-shop; null if there is none. */
  readonly eshop: number | null;
  readonly name: string | null;
  /** The reason. */
  readonly note: string | null;
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
    const there = (id: number) => skipped(`e-shop ${id} exists already`, id);
    if (dryRun) {
      const existing = await findImportedEshop(sql, eshop);
      if (existing !== null) return there(existing);
      const marks = [
        JSON.stringify([name, eshop.email]),
        ...(eshop.apiKeyHash === null ? [] : [eshop.apiKeyHash.toLowerCase()]),
      ];
      if (marks.some((mark) => planned.has(mark))) return skipped('an earlier line is the same e-shop');
      for (const mark of marks) planned.add(mark);
      return { outcome: 'created', eshop: null, name, users, note: null };
    }
    const made = await importEshop(sql, eshop);
    if ('existing' in made) return there(made.existing);
    return { outcome: 'created', ...made, name, note: null };
  };
}

/** The result of a refused line. */
const refusedEshop = (value: unknown, note: string): EshopResult => ({
  outcome: 'refused',
  eshop: null,
  name: textFieldOf(value, 'name'),
  users: [],
  note,
});

const importOptions = v.object({ dryRun: flag('--dry-run', 'print the results, but import nothing') });

export function importEshopsCommand(command: Command, { env, print }: CommandContext): void {
  command
    .argument('<file>', 'NDJSON, or CSV with a header line; - for standard input')
    .addHelpText(
      'after',
      '\nAn e-shop that exists already is skipped. Exit code: 0 none refused, 1 could not be run, 2 some refused.',
    );
  runs(command, importOptions, async ({ dryRun, json }, file) => {
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
