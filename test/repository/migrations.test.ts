/** Rules for migration files, since they run beside working processes. */
import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

const folder = new URL('../../src/db/migrations/', import.meta.url);
/** The files up to this one are the schema of 1.0, created before any process works. */
const LAST_OF_THE_BASELINE = '0006';

/** Indexes that would lock an existing table, or all partitions of one at once. */
function lockingIndexes(text: string): string[] {
  const made = new Set([...text.matchAll(/create table (\w+)/g)].map(([, table]) => table));
  const index = /create (?:unique )?index (concurrently )?(?:if not exists )?\w+\s+on (?!only\b)(\w+)/g;
  return [...text.matchAll(index)]
    .filter(([, concurrently, table = '']) =>
      concurrently === undefined ? !made.has(table) : ['events', 'deliveries', 'attempts'].includes(table),
    )
    .map(([statement]) => statement);
}

test('indexes of existing tables are built concurrently, and partition by partition', () => {
  const files = readdirSync(folder).filter((name) => name.slice(0, 4) > LAST_OF_THE_BASELINE);
  const refused = files.flatMap((name) =>
    lockingIndexes(readFileSync(new URL(name, folder), 'utf8')).map((found) => `${name}: ${found}`),
  );
  expect(refused).toEqual([]);
  const example = readFileSync(new URL('../../docs/adding.md', import.meta.url), 'utf8');
  const [, sql = ''] = /```sql\n(-- outside[\s\S]*?)```/.exec(example) ?? [];
  expect(sql).toContain('on only deliveries');
  expect(lockingIndexes(sql)).toEqual([]);
});

test.each([
  'create index a on webhooks (id);',
  'create unique index a on deliveries (id);',
  'create index concurrently a on deliveries (id);',
])('%s is refused', (text) => {
  expect(lockingIndexes(text)).toHaveLength(1);
});

test.each([
  'create index concurrently a on webhooks (id);',
  'create table things (id int); create index a on things (id);',
])('%s is accepted', (text) => {
  expect(lockingIndexes(text)).toEqual([]);
});
