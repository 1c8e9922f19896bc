// Whether our fixes are in the packages that need them: patches/README.md.
import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { hasSources } from './built.js';
import { refuse } from './refuse.js';

/** The files that our patches change, and the beginning of each one's SHA-256 after that. */
const PATCHED = {
  postgres: { 'src/connection.js': '38916dce970a', 'src/index.js': 'cc85c1e98c4a' },
  undici: { 'lib/dispatcher/client-h1.js': 'c5674c295858' },
};

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

function hashOf(path) {
  if (!existsSync(path)) return '';
  return createHash('sha256').update(readFileSync(path)).digest('hex');
}

/** Ends the process unless they are: it would fail later, in ways that name neither cause nor cure. */
export function requirePatches() {
  // The package that npm installs contains them, already patched. patch-package refuses a package that has an older
  // patch: a new installation helps in all cases.
  const again = 'install Waybill again, with npm';
  const inCheckout = hasSources();
  for (const [name, files] of Object.entries(PATCHED)) {
    const folder = folderOf(name);
    if (folder === undefined)
      refuse(`The package ${name} is not installed: ${inCheckout ? 'run npm ci' : again}.`);
    if (Object.entries(files).every(([file, hash]) => hashOf(join(folder, file)).startsWith(hash))) continue;
    const cure = inCheckout ? 'run npm ci, and npx --no patch-package if that ran no scripts' : again;
    refuse(`The package ${name} lacks its patch: ${cure}.`);
  }
}
