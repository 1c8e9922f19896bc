/** The program as it is shipped, built once for as many runs as its sources stay as they are. */
import { execFile } from 'node:child_process';
import { existsSync, readdirSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const run = promisify(execFile);
const cwd = fileURLToPath(new URL('../..', import.meta.url));

/** Everything that a build reads: files, and folders with all that is in them. */
const SOURCES = [
  ...['src', 'workflows', 'activities', 'demo', 'receiver/src', 'docs/guides'],
  ...['package.json', 'package-lock.json', 'tsconfig.json', 'tsconfig.build.json', 'patches'],
];
/** Its time is when the build began that is in `dist/`. */
const STAMP = join(cwd, 'dist/built-by-tests');

/** When any of them was written last, made or removed, in milliseconds. */
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

/** Builds it into `dist/` as `npm run build` does, but for the type check, unless it is there. */
export async function build(): Promise<void> {
  // What has not changed is not written.
  await run('npm', ['run', '--silent', 'receiver:generate'], { cwd });
  const began = new Date();
  if (existsSync(STAMP) && statSync(STAMP).mtimeMs > lastChange()) return;
  await run('npx', ['tsc', '-p', 'tsconfig.build.json', '--noCheck'], { cwd });
  await run('npm', ['run', '--silent', 'build:rest'], { cwd });
  writeFileSync(STAMP, '');
  utimesSync(STAMP, began, began);
}
