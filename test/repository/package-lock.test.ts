/** `npm ci` installs what was reviewed: every package has a hash to compare with, and is of the public registry. */
import { readFileSync } from 'node:fs';
import * as v from 'valibot';
import { expect, it } from 'vitest';

const schema = v.object({
  packages: v.record(
    v.string(),
    v.object({
      integrity: v.optional(v.string(), ''),
      resolved: v.optional(v.string(), 'https://registry.npmjs.org/'),
      link: v.optional(v.boolean(), false),
    }),
  ),
});

it('every package of the lock file has a SHA-512 and comes from the public registry', () => {
  const text = readFileSync(new URL('../../package-lock.json', import.meta.url), 'utf8');
  const { packages } = v.parse(schema, JSON.parse(text));
  // Without the root, the workspaces, which are folders of this repository, and the links to them.
  const installed = Object.entries(packages).filter(
    ([path, { link }]) => path.includes('node_modules/') && !link,
  );
  const wrong = installed.filter(
    ([, { integrity, resolved }]) =>
      !/(^|\s)sha512-/.test(integrity) || !resolved.startsWith('https://registry.npmjs.org/'),
  );
  expect(wrong.map(([path]) => path)).toEqual([]);
  expect(installed.length).toBeGreaterThan(100);
});
