/** Each patch marks its package, by which the program knows that it was applied: see `patches/README.md`. */
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';

const root = resolve(import.meta.dirname, '../..');
const read = (path: string) => readFileSync(join(root, path), 'utf8');
const patches = readdirSync(join(root, 'patches')).filter((name) => name.endsWith('.patch'));

test('there are patches', () => {
  expect(patches.length).toBeGreaterThan(0);
});

test.each(patches)(
  'the mark in %s is the hash of all its other changes, and the one that is expected',
  (file) => {
    const parts = read(`patches/${file}`).split(/^(?=diff --git )/m);
    const isMark = (part: string) => part.includes('/patched-for-waybill\n');
    const hash = createHash('sha256')
      .update(parts.filter((part) => !isMark(part)).join(''))
      .digest('hex')
      .slice(0, 12);
    expect(parts.find(isMark)).toMatch(new RegExp(`^\\+${hash}$`, 'm'));
    const [name] = file.split('+');
    expect(read('bin/patched.js')).toMatch(new RegExp(`PATCHES = .*\\b${name}: '${hash}'`));
  },
);
