// Builds the program beside the last build in dist/, then puts it in that place: a server that runs
// from there never meets half a build, and of two builds at once each is whole.
//
//     node bin/build.js            # `npm run build`: always, with the type check
//     node bin/build.js --changed  # `npm ci`: if sources have changed, without the type check;
//                                  # nothing where sources or compiler are missing
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import {
  cpSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { dist, hasSources, isUpToDate, root, STAMP } from './built.js';
import { requirePlatform } from './platform.js';

/** The prefix of builds under way, and of those that were replaced, until they are removed. */
const ASIDE = 'dist.';
/** The age at which one counts as abandoned, in milliseconds. */
const ABANDONED_MS = 3_600_000;

const onlyIfChanged = process.argv.includes('--changed');

/** The path of the compiler; undefined in an installation without development's packages. */
function compiler() {
  try {
    const manifest = createRequire(join(root, 'package.json')).resolve('typescript/package.json');
    return join(manifest, '../bin/tsc');
  } catch {
    return undefined;
  }
}

/** Ends the script under way, if there is one. */
let interrupt = () => {};

/** Runs one of our scripts; what it prints is shown. @throws Error unless it ends well */
async function node(args, cwd = root) {
  const child = spawn(process.execPath, args, { cwd, stdio: ['ignore', 'inherit', 'inherit'] });
  interrupt = () => child.kill();
  const [code, signal] = await once(child, 'exit');
  if (code !== 0) throw new Error(`The build failed: ${args[0]} ended with ${code ?? signal}.`);
}

/** Removes what builds have left that were killed. */
function removeAbandoned() {
  for (const name of readdirSync(root).filter((entry) => entry.startsWith(ASIDE))) {
    const path = join(root, name);
    const age = Date.now() - (statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? Date.now());
    if (age > ABANDONED_MS) rmSync(path, { recursive: true, force: true });
  }
}

/** Everything in dist/, made in another folder. */
async function make(folder, tsc) {
  const began = new Date();
  const unchecked = onlyIfChanged ? ['--noCheck'] : [];
  await node([tsc, '-p', 'tsconfig.build.json', '--outDir', folder, ...unchecked]);
  const isCopied = (path) => !/\.tsx?$/.test(path);
  cpSync(join(root, 'src'), join(folder, 'src'), { recursive: true, filter: isCopied });
  // As `npm run docs`, by what has just been compiled; the program itself has no use for it.
  cpSync(join(root, 'site/assets'), join(folder, 'site/assets'), { recursive: true });
  await node([join(folder, 'site/main.js'), join(folder, 'docs')]);
  rmSync(join(folder, 'site'), { recursive: true });
  // From within the folder, whose name would be in the bundle otherwise.
  await node(['src/temporal/build-workflow-bundle.js'], folder);
  writeFileSync(join(folder, STAMP), '');
  utimesSync(join(folder, STAMP), began, began);
}

/**
 * Puts a whole build in the place of the last one, which is put aside first: no folder can be
 * renamed onto another that is not empty.
 */
function replaceWith(folder) {
  for (let times = 1; ; times += 1) {
    try {
      renameSync(folder, dist);
      return;
    } catch (error) {
      if (error.code !== 'ENOTEMPTY' && error.code !== 'EEXIST') throw error;
    }
    const before = `${folder}-before-${times}`;
    try {
      renameSync(dist, before);
    } catch (error) {
      // Another build has just put it aside.
      if (error.code !== 'ENOENT') throw error;
    }
  }
}

async function build() {
  const tsc = compiler();
  if (onlyIfChanged && (tsc === undefined || !hasSources())) return;
  if (tsc === undefined) throw new Error('There is no compiler here: run npm ci.');
  requirePlatform();
  // Writes only the files that change.
  await node(['--import', './bin/sources.js', 'receiver/generate/generate.ts']);
  if (onlyIfChanged && isUpToDate()) return;
  removeAbandoned();
  // Not by mkdtemp, whose folders only their owner can enter: in the image it is another user.
  const folder = join(root, `${ASIDE}${randomBytes(4).toString('hex')}`);
  mkdirSync(folder);
  process.once('exit', () => {
    for (const name of readdirSync(root).filter((entry) => join(root, entry).startsWith(folder)))
      rmSync(join(root, name), { recursive: true, force: true });
  });
  await make(folder, tsc);
  replaceWith(folder);
}

// It ends with its script, and cleans up.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => interrupt());
await build().catch((error) => {
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 1;
});
