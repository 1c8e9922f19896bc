// Where the build is, when it began, and whether its sources have changed since.
import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { refuse } from './refuse.js';

export const root = fileURLToPath(new URL('../', import.meta.url));
export const dist = join(root, 'dist');
/** Its modification time is when the build began. */
export const STAMP = 'build-began';
/** Everything that a build reads: files, and folders with all their contents. */
const SOURCES = [
  ...['src', 'workflows', 'activities', 'demo', 'receiver/src', 'site', 'docs', 'patches'],
  ...['package.json', 'package-lock.json', 'tsconfig.json', 'tsconfig.build.json'],
];

/** An image has only the build. */
export const hasSources = () => existsSync(join(root, 'src'));

/** When one of the sources was last written, created or removed, in milliseconds. */
function lastChange() {
  const times = SOURCES.map((name) => join(root, name)).flatMap((path) => {
    const found = statSync(path, { throwIfNoEntry: false });
    if (found === undefined) return [];
    // A file may vanish between the two calls: an editor's, say.
    const inside = found.isDirectory() ? readdirSync(path, { recursive: true }) : [];
    const entries = inside.map((name) => statSync(join(path, name), { throwIfNoEntry: false }));
    return [found, ...entries].map((entry) => entry?.mtimeMs ?? 0);
  });
  return Math.max(...times);
}

/** Whether there is a build, and no source is newer. */
export function isUpToDate() {
  const stamp = statSync(join(dist, STAMP), { throwIfNoEntry: false });
  return stamp !== undefined && stamp.mtimeMs > lastChange();
}

/** Ends the process unless there is a build; says so if it is not that of the present sources. */
export function requireBuild() {
  if (!existsSync(dist)) refuse('Nothing is built yet: run npm run build.');
  if (hasSources() && !isUpToDate())
    process.stderr.write('The sources are newer than the build in dist: run npm run build.\n');
}
