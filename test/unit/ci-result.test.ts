/** The end of `.ci/run`: the failures and their number. Machines read its last line. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';

const green = { status: 'passed', fullName: 'it works' };
const red = { status: 'failed', fullName: 'it breaks', failureMessages: ['Error: one'] };
const report = (status: string, ...assertionResults: object[]) => ({
  testResults: [{ name: resolve('test/a.test.ts'), status, message: '', assertionResults }],
});
const round = (...texts: string[]) => ({
  round: { fault: { group: 'worker', name: 'killed' } },
  verdict: { violations: texts.map((text) => ({ kind: 'lost', text })) },
});

/** Its output and exit code, given the files that the steps have left. */
function result(files: Readonly<Record<string, unknown>>) {
  const folder = mkdtempSync(join(tmpdir(), 'result-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  for (const [name, content] of Object.entries(files))
    writeFileSync(join(folder, name), JSON.stringify(content));
  const { status, stdout } = spawnSync(process.execPath, ['.ci/result.js', folder], { encoding: 'utf8' });
  return { status, lines: stdout.trim().split('\n') };
}
const all = {
  'tests.json': report('passed', green),
  'tests.code': 0,
  'postgres.json': report('passed', green),
  'postgres.code': 0,
  'fuzz.code': 0,
  'faults.json': [round()],
};

test('all green: every step is counted', () => {
  expect(result(all)).toEqual({ status: 0, lines: ['4 passed, 0 failed'] });
});

test('what failed is named, what passed once more is listed as unsteady, and a step that left no result is a failure', () => {
  const unsteady = { ...red, fullName: 'it hurries' };
  const { 'postgres.json': _, ...bad } = {
    ...all,
    'tests.json': report('failed', green, red, unsteady),
    'tests.code': 1,
    'again.json': report('failed', green, red, { ...unsteady, status: 'passed' }),
    'fuzz.code': 2,
    'faults.json': [round('order 7')],
  };
  const { status, lines } = result(bad);
  expect(status).toBe(1);
  expect(lines).toEqual([
    '== unsteady: failed once, and passed on their own',
    'test/a.test.ts: it hurries',
    '',
    '== failed',
    'test/a.test.ts: it breaks',
    '    Error: one',
    expect.stringContaining('.ci/on-postgres left no result'),
    'npm run faults: worker: killed',
    '    lost: order 7',
    'npm run fuzz ended with 2',
    '',
    expect.stringMatching(/^\d passed, 4 failed$/),
  ]);
  const hook = { 'tests.json': report('failed', green), 'tests.code': 1 };
  expect(result({ ...all, ...hook, 'again.json': report('failed', green) }).status).toBe(1);
  expect(result({ ...all, ...hook, 'again.json': report('passed', green) }).status).toBe(0);
});

test('unsteady tests of more than two files fail the run', () => {
  const files = (number: number, status: string, test: object) => ({
    testResults: Array.from({ length: number }, (_, index) => ({
      name: resolve(`test/${index}.test.ts`),
      status,
      message: '',
      assertionResults: [test, { ...test, fullName: 'it hurries' }],
    })),
  });
  const run = (number: number) =>
    result({
      ...all,
      'tests.json': files(number, 'failed', red),
      'tests.code': 1,
      'again.json': files(number, 'passed', { ...red, status: 'passed' }),
    });
  expect(run(2).status).toBe(0);
  const { status, lines } = run(3);
  expect(status).toBe(1);
  expect(lines).toContain('3 files have unsteady tests, and at most 2 may');
  expect(lines.at(-1)).toBe('9 passed, 1 failed');
});
