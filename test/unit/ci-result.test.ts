/**
 * The end of `.ci/run`: the failures and their number. Machines read its last line.
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';

const passing = { status: 'passed', fullName: 'it works' };
const failing = { status: 'failed', fullName: 'it breaks', failureMessages: ['Error: one\n    at two'] };
const file = (name: string, status: string, assertionResults: object[], message = '') => ({
  name: resolve(name),
  status,
  message,
  assertionResults,
});
const round = (...texts: string[]) => ({
  round: { fault: { group: 'worker', name: 'killed' } },
  verdict: { violations: texts.map((text) => ({ kind: 'lost', text })) },
});
const GREEN = { testResults: [file('test/a.test.ts', 'passed', [passing, passing])] };

interface Left {
  /** The report of `npm test`. */
  readonly tests?: object;
  readonly code?: number;
  /** The report of `.ci/on-postgres`; null: it left none. */
  readonly postgres?: object | null;
  readonly fuzz?: number;
  readonly rounds?: readonly object[];
}

/** Its output and exit code, given the results of the tests, the fuzz and the faults. */
function result({ tests, code = 0, postgres = GREEN, fuzz = 0, rounds = [round()] }: Left) {
  const folder = mkdtempSync(join(tmpdir(), 'result-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const files = {
    'tests.json': tests,
    'tests.code': code,
    'postgres.json': postgres ?? undefined,
    'postgres.code': postgres === GREEN ? 0 : 1,
    'fuzz.code': fuzz,
    'faults.json': rounds,
  };
  for (const [name, content] of Object.entries(files)) {
    if (content !== undefined) writeFileSync(join(folder, name), JSON.stringify(content));
  }
  const { status, stdout } = spawnSync(process.execPath, ['.ci/result.js', folder], { encoding: 'utf8' });
  return { status, lines: stdout.trim().split('\n') };
}

test('each test, the fuzz and each round of faults count', () => {
  expect(result({ tests: GREEN, rounds: [round(), round()] })).toEqual({
    status: 0,
    lines: ['7 passed, 0 failed'],
  });
});

test('what failed is named', () => {
  const testResults = [
    file('test/a.test.ts', 'failed', [passing, failing]),
    file('test/b.test.ts', 'failed', [], 'cannot be loaded'),
  ];
  expect(result({ tests: { testResults }, code: 1, fuzz: 2, rounds: [round('order 7')] })).toEqual({
    status: 1,
    lines: [
      '== failed',
      'test/a.test.ts: it breaks',
      '    Error: one',
      '        at two',
      'test/b.test.ts',
      '    cannot be loaded',
      'npm run faults: worker: killed',
      '    lost: order 7',
      'npm run fuzz ended with 2',
      '',
      '3 passed, 4 failed',
    ],
  });
});

test('an error outside the tests fails the run', () => {
  const { status, lines } = result({ tests: GREEN, code: 1 });
  expect(status).toBe(1);
  expect(lines.at(-1)).toBe('6 passed, 1 failed');
});

test('tests that left no result fail the run', () => {
  const { status, lines } = result({ code: 137 });
  expect(status).toBe(1);
  expect(lines.at(-1)).toBe('4 passed, 1 failed');
});

test('failures on the other Postgres are listed apart, and so is a run on none', () => {
  const testResults = [file('test/a.test.ts', 'failed', [passing, failing])];
  expect(result({ tests: GREEN, postgres: { testResults } }).lines).toContain(
    "on Debian's Postgres: test/a.test.ts: it breaks",
  );
  const { status, lines } = result({ tests: GREEN, postgres: null });
  expect(status).toBe(1);
  expect(lines.join()).toContain('.ci/on-postgres left no result');
  expect(lines.at(-1)).toBe('4 passed, 1 failed');
});
