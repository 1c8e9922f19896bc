/**
 * `npm ci` installs what was reviewed: every package has a hash that npm compares its archive with.
 */
import { readFileSync } from 'node:fs';
import * as v from 'valibot';
import { expect, it } from 'vitest';

const schema = v.object({
  packages: v.record(
    v.string(),
    v.object({
      integrity: v.optional(v.string()),
      resolved: v.optional(v.string()),
      link: v.optional(v.boolean()),
      dependencies: v.optional(v.record(v.string(), v.string())),
      optionalDependencies: v.optional(v.record(v.string(), v.string())),
    }),
  ),
});
const { packages } = v.parse(
  schema,
  JSON.parse(readFileSync(new URL('../../package-lock.json', import.meta.url), 'utf8')),
);
/** Without the root, the workspaces, which are folders of this repository, and the links to them. */
const installed = Object.entries(packages).filter(
  ([path, { link }]) => path.includes('node_modules/') && link !== true,
);

it('every package of the lock file has a SHA-512', () => {
  const without = installed.filter(([, { integrity = '' }]) => !/(^|\s)sha512-/.test(integrity));
  expect(without.map(([path]) => path)).toEqual([]);
  expect(installed.length).toBeGreaterThan(100);
});

it('every package of the lock file comes from the public registry', () => {
  const elsewhere = installed.filter(
    ([, { resolved = '' }]) => resolved !== '' && !resolved.startsWith('https://registry.npmjs.org/'),
  );
  expect(elsewhere.map(([path]) => path)).toEqual([]);
});

it('everything that a package of the lock file depends on is in it, for every platform: else npm ci refuses it', () => {
  const names = new Set(installed.map(([path]) => path.slice(path.lastIndexOf('node_modules/') + 13)));
  const wanted = installed.flatMap(([, { dependencies, optionalDependencies }]) =>
    Object.keys({ ...dependencies, ...optionalDependencies }),
  );
  expect(wanted.filter((name) => !names.has(name))).toEqual([]);
});
