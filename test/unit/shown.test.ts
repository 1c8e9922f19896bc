/**
 * What the documents show is what the program says.
 * @module
 */
import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { configurationTable } from '../../src/cli/configuration-table.ts';
import { policyTable } from '../../src/cli/policy-table.ts';
import { defaultRetryPolicy } from '../../src/domain/retry-policy.ts';

const root = new URL('../../', import.meta.url);
const deliveries = readFileSync(new URL('docs/deliveries.md', root), 'utf8');
const operating = readFileSync(new URL('docs/operating.md', root), 'utf8');

it('the table of waits is the one that `waybill policy` prints', () => {
  expect(deliveries).toContain(`\n${policyTable(defaultRetryPolicy)}\n`);
});

it('the table of variables is the one that `waybill variables` prints', () => {
  expect(operating).toContain(`\n${configurationTable()}\n`);
});
