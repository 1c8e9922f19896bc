/** The table of mutants matches the code; `npm run mutants` shows that they are caught. */
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { groupNames } from '../../faults/fault.ts';
import { faults } from '../../faults/groups/index.ts';
import { problemsOf } from '../../mutants/defect.ts';
import { defects } from '../../mutants/defects.ts';
import { faultDefects } from '../../mutants/fault-defects.ts';
import { outcomeOfRounds } from '../../mutants/run-faults.ts';
import { runTests } from '../../mutants/run-tests.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

test('every defect has its place, and names existing tests', async () => {
  expect(await problemsOf([...defects, ...faultDefects], root)).toEqual([]);
});

test('a run that hangs times out, and fails no test', async () => {
  const tests = ['every group of faults has a defect'];
  const file = 'test/repository/mutants.test.ts';
  expect(await runTests(root, [{ file, tests }], 100)).toEqual([
    { file, test: tests[0], outcome: 'timed out' },
  ]);
});

test('every group of faults has a defect, which a fault of that group shows', () => {
  expect(faultDefects.map(({ group }) => group).sort()).toEqual([...groupNames].sort());
  for (const { group, fault } of faultDefects) {
    expect(faults.filter(({ name }) => name === fault).map((each) => each.group)).toEqual([group]);
  }
});

test('a defect survives the rounds of faults only if all of them were played', () => {
  expect(outcomeOfRounds({ findings: [], unplayed: [] })).toBe('SURVIVED');
  expect(outcomeOfRounds({ findings: [], unplayed: ['no port'] })).toBe('not played');
  expect(outcomeOfRounds({ findings: ['lost: an order'], unplayed: ['no port'] })).toBe('caught');
});
