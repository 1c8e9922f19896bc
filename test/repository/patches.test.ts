/** Every file that a patch changes is one that the program looks at when it starts: see `patches/README.md`. */
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';

const root = resolve(import.meta.dirname, '../..');
const read = (path: string) => readFileSync(join(root, path), 'utf8');
const patches = readdirSync(join(root, 'patches')).filter((name) => name.endsWith('.patch'));
const changed = patches.flatMap((patch) =>
  [...read(`patches/${patch}`).matchAll(/^diff --git a\/(\S+) /gm)].map(([, file = '']) => file),
);

test('npm packs every patched library', () => {
  expect(patches.length).toBeGreaterThan(0);
  const { bundleDependencies } = JSON.parse(read('package.json'));
  expect(patches.map((patch) => patch.split('+')[0]).sort()).toEqual(bundleDependencies);
});

test.each(changed)('the program expects %s as patched', (file) => {
  const hash = createHash('sha256').update(read(file)).digest('hex').slice(0, 12);
  const [, name, path] = /^node_modules\/([^/]+)\/(.+)$/.exec(file) ?? [];
  expect(read('bin/patched.js')).toMatch(new RegExp(`^  ${name}: \\{.*'${path}': '${hash}'.*\\},$`, 'm'));
});
