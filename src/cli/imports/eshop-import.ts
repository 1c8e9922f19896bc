/** E-shops and their users that come from another system, each for itself (docs/interface.md, A8). */
import * as v from 'valibot';
import { type ImportedEshop, importEshop } from '../../app/accounts.ts';
import { findImportedEshop } from '../../db/eshops.ts';
import type { Pool } from '../../db/pool.ts';
import { email, text } from '../../domain/fields.ts';
import { roles } from '../../domain/role.ts';
import { validate } from '../../domain/validation.ts';
import { foreignHashProblem } from '../../secrets/passwords.ts';
import { lineFields, wordOf } from './refusal.ts';
import type { Outcome } from './run-import.ts';

const user = v.strictObject({
  username: text(200, 1),
  role: v.picklist(roles, 'must be shop or warehouse'),
  passwordHash: v.nullish(
    v.pipe(
      text(1_000),
      v.rawCheck(({ dataset, addIssue }) => {
        const problem = dataset.typed ? foreignHashProblem(dataset.value) : null;
        if (problem !== null) addIssue({ message: problem });
      }),
    ),
    null,
  ),
});
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

/** The titles that a CSV may have. */
export const eshopFields = Object.keys(eshopSchema.entries);

/** What became of a line, or would. */
interface EshopResult extends Omit<ImportedEshop, 'eshop'> {
  readonly outcome: Outcome;
  /** Of the e-shop that is there now; null where there is none. */
  readonly eshop: number | null;
  readonly name: string | null;
  /** Why. */
  readonly note: string | null;
}

/** Makes what imports one value after the other. @throws Problem where a value is refused */
export function eshopImport(sql: Pool, dryRun: boolean): (value: unknown) => Promise<EshopResult> {
  /** What a dry run would have made. */
  const planned = new Set<string>();

  return async (value) => {
    const eshop = validate(eshopSchema, lineFields(value));
    const { name } = eshop;
    const users = eshop.users.map(({ username, role }) => ({ username, role }));
    const there = (id: number): EshopResult => ({
      outcome: 'skipped',
      eshop: id,
      name,
      users: [],
      note: `e-shop ${id} is there already`,
    });
    if (dryRun) {
      const twin = await findImportedEshop(sql, eshop);
      if (twin !== null) return there(twin);
      const marks = [
        JSON.stringify([name, eshop.email]),
        ...(eshop.apiKeyHash === null ? [] : [eshop.apiKeyHash.toLowerCase()]),
      ];
      if (marks.some((mark) => planned.has(mark)))
        return {
          outcome: 'skipped',
          eshop: null,
          name,
          users: [],
          note: 'an earlier line is the same e-shop',
        };
      for (const mark of marks) planned.add(mark);
      return { outcome: 'created', eshop: null, name, users, note: null };
    }
    const made = await importEshop(sql, eshop);
    if ('twin' in made) return there(made.twin);
    return { outcome: 'created', ...made, name, note: null };
  };
}

/** A line that stays out, with what can be said of it. */
export const refusedEshop = (value: unknown, note: string): EshopResult => ({
  outcome: 'refused',
  eshop: null,
  name: wordOf(value, 'name'),
  users: [],
  note,
});
