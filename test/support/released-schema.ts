/** Which files of the schema are frozen, since a release has them: `released.json` holds their hashes, of none until the first. */
import { readFile } from 'node:fs/promises';
import * as v from 'valibot';
import type { MigrationFile } from '../../src/db/applied-migrations.ts';

export const MIGRATIONS = new URL('../../src/db/migrations/', import.meta.url);

/** SHA-256 in hex, by the name of the file. */
const Released = v.record(v.string(), v.pipe(v.string(), v.regex(/^[\da-f]{64}$/)));
export type Released = v.InferOutput<typeof Released>;

export async function readReleased(): Promise<Released> {
  return v.parse(Released, JSON.parse(await readFile(new URL('released.json', MIGRATIONS), 'utf8')));
}

/** What databases of a release could not be upgraded with; empty if they can. */
export function schemaProblems(
  files: readonly Pick<MigrationFile, 'name' | 'hash'>[],
  released: Released,
): string[] {
  const names = Object.keys(released).sort();
  const last = names.at(-1) ?? '';
  const present = new Map(files.map(({ name, hash }) => [name, hash]));
  const changed = names
    .filter((name) => present.get(name) !== released[name])
    .map((name) => `${name} is released and frozen, but was ${present.has(name) ? 'changed' : 'removed'}.`);
  const between = files
    .filter(({ name }) => released[name] === undefined && name < last)
    .map(({ name }) => `${name} is new, but sorts before ${last}, which is released.`);
  return [...changed, ...between];
}
