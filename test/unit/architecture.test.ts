/** The arrows between the rooms: who may import what. */
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { expect, test } from 'vitest';

const root = resolve(import.meta.dirname, '../..');

interface Import {
  readonly from: string;
  /** A package's name, or a path from the root. */
  readonly to: string;
  readonly typeOnly: boolean;
}

function filesOf(folder: string): string[] {
  const entries = readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' });
  return entries.filter((file) => /\.tsx?$/.test(file)).map((file) => join(folder, file));
}

function importsOf(file: string): Import[] {
  const text = readFileSync(join(root, file), 'utf8');
  const found = text.matchAll(/^(import|export) (type )?[^;]*?from '([^']+)';/gms);
  return [...found].map(([statement, , type, specifier = '']) => ({
    from: file,
    to: specifier.startsWith('.') ? relative(root, resolve(root, dirname(file), specifier)) : specifier,
    typeOnly: type !== undefined || /^(import|export) \{\s*(type [^,}]+,?\s*)+\}/.test(statement),
  }));
}

const all = ['src', 'workflows', 'activities'].flatMap(filesOf).flatMap(importsOf);

function breaches(room: string, forbidden: (found: Import) => boolean): string[] {
  return all
    .filter((found) => found.from.startsWith(room) && forbidden(found))
    .map((found) => `${found.from} imports ${found.to}`);
}
const isTemporal = ({ to }: Import) => to.startsWith('@temporalio/');
const isOurs = ({ to }: Import) => /^(src|workflows|activities|test|bench)\//.test(to);

test('there are imports to look at', () => {
  expect(all.length).toBeGreaterThan(100);
});

test('domain/ imports nothing of ours, and does no I/O', () => {
  expect(breaches('src/domain/', (found) => isOurs(found) && !found.to.startsWith('src/domain/'))).toEqual(
    [],
  );
  expect(
    breaches('src/domain/', ({ to }) => /^(node:)?(fs|net|http|https|dns|child_process)\b/.test(to)),
  ).toEqual([]);
});

test('domain/: what the kinds of record share imports none of them, the catalogue aside', () => {
  const kinds = /^src\/domain\/(order|receiving|return|product|stock)\//;
  const shared = (file: string) => /^src\/domain\/[^/]+$/.test(file) && file !== 'src/domain/catalogue.ts';
  const found = breaches('src/domain/', ({ from, to }) => shared(from) && kinds.test(to));
  expect(found).toEqual([]);
});

test('workflows/ imports types and pure functions only', () => {
  const allowed = /^(workflows|src\/domain)\/|^@temporalio\/(workflow|common)$/;
  const isType = ({ to, typeOnly }: Import) => typeOnly && to.startsWith('src/attempt/');
  expect(breaches('workflows/', (found) => !allowed.test(found.to) && !isType(found))).toEqual([]);
  // Schema libraries would come into the bundle with these.
  const bundled = new Set<string>();
  const visit = (file: string): void => {
    if (bundled.has(file)) return;
    bundled.add(file);
    for (const found of importsOf(file)) {
      if (!found.typeOnly && isOurs(found)) visit(found.to);
      if (!found.typeOnly && !isOurs(found)) bundled.add(found.to);
    }
  };
  visit('workflows/index.ts');
  expect([...bundled].filter((name) => !/^(workflows|src\/domain)\/|^@temporalio\//.test(name))).toEqual([]);
});

test('api/, db/ and delivery/ never import Temporal; activities/ never import Hono', () => {
  for (const room of ['src/api/', 'src/db/', 'src/delivery/', 'src/domain/']) {
    expect(breaches(room, isTemporal)).toEqual([]);
  }
  expect(
    breaches('activities/', ({ to }) => /^(@hono\/|hono)/.test(to) || to.startsWith('src/api/')),
  ).toEqual([]);
});

test('attempt/ knows nothing of who asks for an attempt: neither Temporal nor workflows/ nor activities/', () => {
  const asking =
    /^(@temporalio\/|workflows\/|activities\/|src\/(relay|temporal|reconciler|api|cli|embedded)\/)/;
  expect(breaches('src/attempt/', ({ to }) => asking.test(to))).toEqual([]);
});

test('nothing calls back up: relay, workflows, activities, db and delivery do not import api/', () => {
  for (const room of ['src/relay/', 'src/db/', 'src/delivery/', 'workflows/', 'activities/']) {
    expect(breaches(room, ({ to }) => to.startsWith('src/api/'))).toEqual([]);
  }
});

test('SQL is written in db/ and nowhere else', () => {
  const outside = ['src', 'workflows', 'activities']
    .flatMap(filesOf)
    .filter((file) => !file.startsWith('src/db/'))
    .filter((file) => /\b(sql|tx)(<[^>]*>)?`/.test(readFileSync(join(root, file), 'utf8')));
  expect(outside).toEqual([]);
});

test('transactions are begun in one place, and what is owed to the relay is written in one room', () => {
  const elsewhere = (room: string, pattern: RegExp) =>
    ['src', 'workflows', 'activities']
      .flatMap(filesOf)
      .filter((file) => !file.startsWith(room))
      .filter((file) => pattern.test(readFileSync(join(root, file), 'utf8')));
  // Migrations begin theirs before there is anything to owe.
  expect(elsewhere('src/db/transaction.ts', /\bsql\.begin\(/)).toEqual(['src/db/migrate.ts']);
  expect(elsewhere('src/db/outbox/', /insert into (events|deliveries|outbox)\b/)).toEqual([]);
  expect(elsewhere('src/db/', /\bnotify(Outbox)?\(/)).toEqual([]);
});
