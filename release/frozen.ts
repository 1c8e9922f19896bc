/**
 * Which files a release has frozen (`frozen.json`): databases were made by its schema, and its deliveries replay its
 * histories. Until the first release it names none, and all of them may change in place.
 */
import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import * as v from 'valibot';

const ROOT = new URL('../', import.meta.url);
export const FROZEN = new URL('frozen.json', import.meta.url);
const SCHEMA = 'src/db/migrations/';
const HISTORIES = 'test/replay/histories/';

/** SHA-256 in hex, by the path of the file from the root. */
const Files = v.record(v.string(), v.pipe(v.string(), v.regex(/^[\da-f]{64}$/)));
export type Files = v.InferOutput<typeof Files>;
/** The last release, and the files that it has. */
const Frozen = v.strictObject({ release: v.nullable(v.string()), files: Files });
export type Frozen = v.InferOutput<typeof Frozen>;

export async function readFrozen(): Promise<Frozen> {
  return v.parse(Frozen, JSON.parse(await readFile(FROZEN, 'utf8')));
}

/** The files that a release freezes, as they are: the schema's, and the recorded histories. */
export async function freezable(): Promise<Files> {
  const paths = await Promise.all([filesOf(SCHEMA, '.sql'), filesOf(HISTORIES, '.json')]);
  const hashed = paths.flat().map(async (path) => {
    const bytes = await readFile(new URL(path, ROOT));
    return [path, createHash('sha256').update(bytes).digest('hex')] as const;
  });
  return Object.fromEntries(await Promise.all(hashed));
}

async function filesOf(folder: string, ending: string): Promise<string[]> {
  const names = await readdir(new URL(folder, ROOT));
  return names
    .filter((name) => name.endsWith(ending))
    .sort()
    .map((name) => `${folder}${name}`);
}

/** What installations of the last release could not be upgraded with; empty if they can. */
export function frozenProblems(present: Files, frozen: Files): string[] {
  const last = Object.keys(frozen).filter(isSchema).sort().at(-1) ?? '';
  const changed = Object.keys(frozen)
    .filter((path) => present[path] !== frozen[path])
    .map((path) => `${path} is released and frozen, but was ${path in present ? 'changed' : 'removed'}.`);
  const between = Object.keys(present)
    .filter((path) => isSchema(path) && !(path in frozen) && path < last)
    .map((path) => `${path} is new, but sorts before ${last}, which is released.`);
  return [...changed, ...between];
}

function isSchema(path: string): boolean {
  return path.startsWith(SCHEMA);
}
