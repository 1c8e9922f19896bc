/**
 * What the README shows is what the program says.
 * @module
 */
import { existsSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { verifyServiceSignature } from '../../src/api/documentation/receiver-code.ts';
import { configurationTable } from '../../src/cli/configuration-table.ts';
import { policyTable } from '../../src/cli/policy-table.ts';
import { defaultRetryPolicy } from '../../src/domain/retry-policy.ts';

const root = new URL('../../', import.meta.url);
const readme = readFileSync(new URL('README.md', root), 'utf8');
const { scripts } = JSON.parse(readFileSync(new URL('package.json', root), 'utf8'));

it('the table of waits is the one that `waybill policy` prints', () => {
  expect(readme).toContain(`\n${policyTable(defaultRetryPolicy)}\n`);
});

it('the table of variables is the one that `waybill variables` prints', () => {
  expect(readme).toContain(`\n${configurationTable()}\n`);
});

it("the receiver's code is the documentation's, which is tested against real signatures", () => {
  expect(readme).toContain(`\`\`\`js\n${verifyServiceSignature}\`\`\`\n`);
});

it('every npm script it names exists', () => {
  const named = [...readme.matchAll(/npm run ([\w-]+)/g)].map(([, name]) => name ?? '');
  expect(Object.keys(scripts)).toEqual(expect.arrayContaining(named));
  expect(named).not.toHaveLength(0);
});

it('every folder and file it names exists', () => {
  const named = [...readme.matchAll(/`((?:src|test|workflows|activities|bin|bench|\.ci)\/[\w./-]*)`/g)];
  for (const [, path = ''] of named) expect(existsSync(new URL(path, root)), path).toBe(true);
  expect(named).not.toHaveLength(0);
});
