/** The program as it is shipped, built once and again only when its sources change. */
import { execFile } from 'node:child_process';
import { existsSync, readdirSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const run = promisify(execFile);
const cwd = fileURLToPath(new URL('../..', import.meta.url));

/** Everything that a build reads: files, and folders with all their contents. */
const SOURCES = [
  ...['src', 'workflows', 'activities', 'demo', 'receiver/src', 'docs/guides'],
  ...['package.json', 'package-lock.json', 'tsconfig.json', 'tsconfig.build.json', 'patches'],
];
/** Its modification time is when the build in `dist/` began. */
const STAMP = join(cwd, 'dist/built-by-tests');

/** When one of them was last written, created or removed, in milliseconds. */
function lastChange(): number {
  const paths = SOURCES.flatMap((source) => {
    const path = join(cwd, source);
    if (!statSync(path).isDirectory()) return [path];
    return [
      path,
      ...readdirSync(path, { recursive: true, encoding: 'utf8' }).map((name) => join(path, name)),
    ];
  });
  return Math.max(...paths.map((path) => statSync(path).mtimeMs));
}

/** Builds into `dist/` as `npm run build` does, but without the type check, unless the build is up to date. */
export async function build(): Promise<void> {
  // Writes only the files that change.
  await run('npm', ['run', '--silent', 'receiver:generate'], { cwd });
  const began = new Date();
  if (existsSync(STAMP) && statSync(STAMP).mtimeMs > lastChange()) return;
  await run('npx', ['tsc', '-p', 'tsconfig.build.json', '--noCheck'], { cwd });
  await run('npm', ['run', '--silent', 'build:rest'], { cwd });
  writeFileSync(STAMP, '');
  utimesSync(STAMP, began, began);
}
