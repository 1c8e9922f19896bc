// Whether our fixes are in the packages that need them: patches/README.md.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { refuse } from './refuse.js';

/** The file that each patch adds to its package. */
const MARK = 'patched-for-waybill';
/** Its content. */
const PATCHES = { postgres: 'a0f9dc8f3d02', undici: '69b212c6c50f' };

/** The folder of an installed package; undefined if it is not installed. */
function folderOf(name) {
  try {
    const path = fileURLToPath(import.meta.resolve(name));
    const inside = `/node_modules/${name}/`;
    const at = path.lastIndexOf(inside);
    return existsSync(path) && at >= 0 ? path.slice(0, at + inside.length) : undefined;
  } catch {
    return undefined;
  }
}

/** Ends the process unless they are: it would fail later, in ways that name neither cause nor cure. */
export function requirePatches() {
  for (const [name, expected] of Object.entries(PATCHES)) {
    const folder = folderOf(name);
    if (folder === undefined) refuse(`The package ${name} is not installed: run npm ci.`);
    const mark = join(folder, MARK);
    const found = existsSync(mark) ? readFileSync(mark, 'utf8').trim() : '';
    if (found === expected) continue;
    // patch-package refuses a package that has an older patch: a new installation helps in all cases.
    refuse(`The package ${name} lacks its patch: run npm ci, and npx patch-package if that ran no scripts.`);
  }
}
