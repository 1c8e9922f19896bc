/** A mutant written by hand: a defect that tests must catch. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

/** Tests of one file. */
export interface Catchers {
  /** From the root of the repository. */
  readonly file: string;
  /** Their names as reported, those of their `describe` before them. Each of them must fail. */
  readonly tests: readonly string[];
}

/** A defect, and where it is put. */
export interface Change {
  /** For `--only`, in kebab-case. */
  readonly name: string;
  /** The file that is changed, from the root of the repository. */
  readonly file: string;
  /** What is replaced: it occurs exactly once in the file. */
  readonly text: string;
  readonly replacement: string;
  /** What somebody who uses or operates the program would notice. */
  readonly noticed: string;
}

/** A defect that tests have to catch: one line of the table. */
export interface Defect extends Change {
  readonly caughtBy: readonly Catchers[];
}

/**
 * The file with the defect in it.
 * @throws Error when the text is not there, or more than once: the table has to follow the code
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
 * What is wrong with a table, as sentences: texts that are not in their files, tests that are not there, names used
 * twice.
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
    if (defect.caughtBy.every(({ tests }) => tests.length === 0))
      problems.push(`${defect.name} names no test`);
    for (const { file } of defect.caughtBy) {
      if ((await read(file)) === '') problems.push(`${defect.name}: there is no ${file}`);
    }
  }
  return problems;
}
