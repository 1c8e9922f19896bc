/** What several places say about the project's state is the same in all of them. */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, it, test } from 'vitest';
import { parse } from 'yaml';
import { readFrozen } from '../../release/frozen.ts';
import { readVersion, topSection, VERSIONED, versionsIn } from '../../release/version.ts';

const root = resolve(import.meta.dirname, '../..');
const read = (path: string) => readFileSync(join(root, path), 'utf8');
const tracked = (...patterns: string[]) =>
  execFileSync('git', ['ls-files', '--', ...patterns], { cwd: root, encoding: 'utf8' })
    .split('\n')
    .filter((path) => path !== '');
const documents = tracked('*.md');
const version = await readVersion();

/** The places of a text that must not be in any of the files. */
function places(pattern: RegExp, files: readonly string[]): string[] {
  return files.flatMap((file) =>
    read(file)
      .split('\n')
      .flatMap((line, index) => (pattern.test(line) ? [`${file}:${index + 1}: ${line.trim()}`] : [])),
  );
}

describe('documents', () => {
  test.each([
    // CHANGELOG.md says what is released, and frozen.json what may not change any more.
    ['that nothing is released', /\b(nothing|not|never) (yet )?(been |is |was )?(released|published)\b/i],
    ['that a package is in no registry', /\bnot (yet )?in (a|the|any) registry\b/i],
    // A file that a release freezes: what to do instead is in CONTRIBUTING.md, "Change the database".
    ['which file of the schema to edit', /migrations\/\d{4}-|\b\d{4}-[\w-]+\.sql\b/],
  ])('no document says %s', (_what, pattern) => {
    expect(places(pattern, documents)).toEqual([]);
  });
});

describe('versions', () => {
  it.each(VERSIONED)('the version in %s is that of package.json', (file, place) => {
    expect(new Set(versionsIn(read(file), place))).toEqual(new Set([version]));
  });

  it('the top section of the changelog has that version, or is Unreleased', () => {
    expect(['Unreleased', version]).toContain(topSection(read('CHANGELOG.md')).version);
  });
});

it('after the first release, no document says that something may still change', async () => {
  const { files } = await readFrozen();
  if (Object.keys(files).length === 0) return;
  expect(
    places(/\buntil (its|the|the first) (first )?tag\b|\bopen until\b|- Unreleased$/i, documents),
  ).toEqual([]);
});

describe('decisions', () => {
  const pages = tracked('docs/decisions/0*.md');
  const replacedBy = (text: string) =>
    /^Superseded by \[(\d+)\]\((\d{4})-[\w-]+\.md\)\.$/m.exec(text)?.slice(1, 3).map(Number) ?? [];
  const number = (page: string) => Number(/\d{4}/.exec(page)?.[0]);

  it.each(pages)('%s is listed as superseded, and by which, or as in force', (page) => {
    const [shown, linked] = replacedBy(read(page));
    expect(linked).toBe(shown);
    const line = read('docs/decisions/README.md')
      .split('\n')
      .find((row) => row.startsWith(`| ${number(page)} |`));
    expect(/, superseded by (\d+) \|$/.exec(line ?? '')?.[1]).toBe(shown?.toString());
  });

  it('a decision has at most a page', () => {
    const long = pages.filter((page) => read(page).split('\n').length > 60);
    expect(long).toEqual([]);
  });
});

it('every workflow file of GitHub is YAML', () => {
  for (const file of tracked('.github/workflows/*.yml')) expect(() => parse(read(file))).not.toThrow();
});
