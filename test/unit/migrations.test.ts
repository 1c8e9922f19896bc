/** What the files of migrations have to keep to, since they run beside processes that are at work. */
import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

const folder = new URL('../../src/db/migrations/', import.meta.url);
/** Those before were there with the first release, whose tables were empty. */
const LAST_OF_THE_FIRST_RELEASE = '0008';

test('an index of a table that was there before is built concurrently', () => {
  const files = readdirSync(folder).filter((name) => name.slice(0, 4) > LAST_OF_THE_FIRST_RELEASE);
  const locking = files.flatMap((name) => {
    const text = readFileSync(new URL(name, folder), 'utf8');
    const made = new Set([...text.matchAll(/create table (\w+)/g)].map(([, table]) => table));
    return [
      ...text.matchAll(
        /create (?:unique )?index (?!concurrently)(?:if not exists )?\w+\s+on (?!only\b)(\w+)/g,
      ),
    ]
      .filter(([, table]) => !made.has(table))
      .map(([statement]) => `${name}: ${statement}`);
  });
  expect(files.length).toBeGreaterThan(5);
  expect(locking).toEqual([]);
});

/** From here on events, deliveries and attempts are partitioned. */
const PARTITIONED = '0042';

test('an index of a partitioned table is made on the parent alone, and then partition by partition', () => {
  const files = readdirSync(folder).filter((name) => name.slice(0, 4) > PARTITIONED);
  const refused = files.flatMap((name) =>
    indexesOfWholeTables(readFileSync(new URL(name, folder), 'utf8')).map((found) => `${name}: ${found}`),
  );
  expect(refused).toEqual([]);
  const example = readFileSync(new URL('../../CONTRIBUTING.md', import.meta.url), 'utf8');
  const [, sql = ''] = /```sql\n(-- outside[\s\S]*?)```/.exec(example) ?? [];
  expect(sql).toContain('on only deliveries');
  expect(indexesOfWholeTables(sql)).toEqual([]);
  expect(indexesOfWholeTables('create index concurrently a on deliveries (id);')).toHaveLength(1);
});

function indexesOfWholeTables(text: string): string[] {
  const pattern =
    /create (?:unique )?index (?:concurrently )?(?:if not exists )?\w+\s+on (?:events|deliveries|attempts)\b/g;
  return [...text.matchAll(pattern)].map(([statement]) => statement);
}
