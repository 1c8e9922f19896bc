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

/** Its output and exit code, given the files that the steps have left. */
function result(files: Readonly<Record<string, unknown>>) {
  const folder = mkdtempSync(join(tmpdir(), 'result-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  for (const [name, content] of Object.entries(files))
    writeFileSync(join(folder, name), JSON.stringify(content));
  const { status, stdout } = spawnSync(process.execPath, ['.ci/result.js', folder], { encoding: 'utf8' });
  return { status, lines: stdout.trim().split('\n') };
}
const unsteady = { ...red, fullName: 'it hurries' };

test('failures are named, and tests that pass the second time are listed as unsteady', () => {
  const { status, lines } = result({
    'tests.json': report('failed', green, red, unsteady),
    'tests.code': 1,
    'again.json': report('failed', green, red, { ...unsteady, status: 'passed' }),
  });
  expect(status).toBe(1);
  expect(lines).toEqual([
    '== unsteady: failed once, and passed on their own',
    'test/a.test.ts: it hurries',
    '',
    '== failed',
    'test/a.test.ts: it breaks',
    '    Error: one',
    '',
    '2 passed, 1 failed',
  ]);
});

test('a failed hook, an error outside the tests and a missing result are failures', () => {
  const hook = { 'tests.json': report('failed', green, green), 'tests.code': 1 };
  expect(result({ ...hook, 'again.json': report('failed', green) }).status).toBe(1);
  expect(result({ ...hook, 'again.json': report('passed', green) }).status).toBe(0);
  const outside = result({ 'tests.json': report('passed', green, green), 'tests.code': 1 });
  expect(outside).toMatchObject({ status: 1, lines: expect.arrayContaining(['npm test ended with 1']) });
  expect(result({}).lines).toContainEqual(expect.stringContaining('npm test left no result'));
});
