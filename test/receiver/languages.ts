/** The languages of the recipes, each if it is installed: `.ci/nightly` needs all but Java. */
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { nightly } from '../support/runner/nightly.ts';

export const recipesFolder = fileURLToPath(new URL('../../receiver/recipes/', import.meta.url));
const run = promisify(execFile);

/** The command that prints a language's version, and Debian's package of it. */
const languages = {
  Python: { version: ['python3', '--version'], needed: 'python3' },
  PHP: { version: ['php', '--version'], needed: 'php-cli' },
  Go: { version: ['go', 'version'], needed: 'golang-go' },
  Java: { version: ['javac', '--version'], needed: null },
  Ruby: { version: ['ruby', '--version'], needed: 'ruby' },
} as const;
export type Language = keyof typeof languages;

/**
 * Why a test of a language is to be skipped; null if it is installed.
 * @throws Error if it is not, and the nightly run needs it
 */
export async function missing(language: Language): Promise<string | null> {
  const { version, needed } = languages[language];
  const [program, ...args] = version;
  if ((await run(program, args, { cwd: recipesFolder }).catch(() => null)) !== null) return null;
  if (nightly && needed !== null)
    throw new Error(`${language} is not present on this machine: install ${needed}.`);
  return `${language} is not present on this machine.`;
}

/** Builds a Go program of the recipes. @param folder of its sources, such as `./check` */
export async function buildGo(folder: string, output: string): Promise<void> {
  await run('go', ['build', '-o', output, folder], { cwd: `${recipesFolder}go` });
}
