/** The licenses of everything that is installed are known, and allow what is done with it. */
import { expect, it, test } from 'vitest';
import { licensedPackages, licenseProblems } from '../../release/licenses.ts';

const packages = await licensedPackages();

it('every package of the lock file has an allowed license', () => {
  expect(packages.length).toBeGreaterThan(100);
  expect(licenseProblems(packages)).toEqual([]);
});

test.each([
  ['MIT OR GPL-3.0', false, true],
  ['(MIT OR CC0-1.0)', false, true],
  ['Apache-2.0 AND MIT', false, true],
  ['Apache-2.0 AND GPL-3.0', false, false],
  ['AGPL-3.0', true, false],
  ['MPL-2.0', true, true],
  ['MPL-2.0', false, false],
  ['none', true, false],
])('the license %s (for development only: %s) is allowed: %s', (license, dev, allowed) => {
  expect(licenseProblems([{ name: 'a-package', license, dev }]).length === 0).toBe(allowed);
});

it('a license that was read by hand counts for its package alone', () => {
  expect(licenseProblems([{ name: 'nub', license: 'MIT/X11', dev: false }])).toEqual([]);
  expect(licenseProblems([{ name: 'nub', license: 'GPL-3.0', dev: false }])).toHaveLength(1);
});
