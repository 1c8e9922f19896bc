/** A mutant written by hand: a defect that tests must catch. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { testTitlesIn } from '../test/support/repository/test-titles.ts';

/** Tests in one file. */
export interface Catchers {
  /** The path from the root of the repository. */
  readonly file: string;
  /** Their names as reported, after those of their `describe`. Each of them must fail. */
  readonly tests: readonly string[];
}

/** A defect, and its place. */
export interface Change {
  /** For `--only`, in kebab-case. */
  readonly name: string;
  /** The changed file, as a path from the root of the repository. */
  readonly file: string;
  /** The text to replace: it occurs exactly once in the file. */
  readonly text: string;
  readonly replacement: string;
  /** The effect that a user or an operator of the program would notice. */
  readonly symptom: string;
}

/** A defect that tests must catch: one line of the table. */
export interface Defect extends Change {
  readonly caughtBy: Catchers;
}

/** The tests of a file that catch a defect. */
export const catchers = (file: string, ...tests: string[]): Catchers => ({ file, tests });

/**
 * The file with the defect in it.
 * @throws Error if the text is missing or occurs more than once: the table must follow the code
 */
export function withDefect(source: string, { name, file, text, replacement }: Change): string {
  const [before, after, ...more] = source.split(text);
  if (before === undefined || after === undefined || more.length > 0) {
    const found = after === undefined ? 'is not' : 'is more than once';
    throw new Error(
      `${name}: the text to replace ${found} in ${file}; the table must follow the code:\n${text}`,
    );
  }
  return `${before}${replacement}${after}`;
}

/**
 * The problems of a table, as sentences: texts missing from their files, tests that do not exist, duplicate names.
 * @param root the folder of the repository
 */
export async function problemsOf(defects: readonly (Change | Defect)[], root: string): Promise<string[]> {
  const problems: string[] = [];
  const names = new Set<string>();
  const read = (file: string) => readFile(join(root, file), 'utf8').catch(() => '');
  for (const defect of defects) {
    if (names.has(defect.name)) problems.push(`${defect.name} appears twice`);
    names.add(defect.name);
    try {
      withDefect(await read(defect.file), defect);
    } catch (error) {
      problems.push(error instanceof Error ? error.message : String(error));
    }
    if (!('caughtBy' in defect)) continue;
    const { file, tests } = defect.caughtBy;
    if (tests.length === 0) problems.push(`${defect.name} names no test`);
    const titles = (await read(file)) === '' ? [] : testTitlesIn(join(root, file)).map(endOf);
    for (const test of tests)
      if (!titles.some((title) => title.test(test)))
        problems.push(`${defect.name}: there is no test "${test}" in ${file}`);
  }
  return problems;
}

/** Matches the names of tests with this title, after those of their `describe`; in a table, with values in it. */
function endOf(title: string): RegExp {
  const parts = title.split(/%[a-z]|\$\w+/).map(escaped);
  return new RegExp(`(^| )${parts.join('.*')}$`);
}

/** A regular expression that matches exactly this text. */
export function escaped(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
}
