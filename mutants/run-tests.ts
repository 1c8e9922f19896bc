/** Runs the tests that a defect names, and returns the result of each. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as v from 'valibot';
import { signalTree } from '../test/support/harness/processes.ts';
import { type Catchers, escaped } from './defect.ts';

/** The result of one test; `missing`: no test of this name ran; `timed out`: its run was ended without a result. */
export type Outcome = 'passed' | 'failed' | 'missing' | 'timed out';

/** A test with its result. */
export interface TestRun {
  readonly file: string;
  readonly test: string;
  readonly outcome: Outcome;
}

/** The part of Vitest's JSON report that is read. */
const Report = v.object({
  testResults: v.array(
    v.object({
      name: v.string(),
      assertionResults: v.array(v.object({ fullName: v.string(), status: v.string() })),
    }),
  ),
});

/** The time for each file of a run, in milliseconds: longer than any test may take. */
const FILE_TIMEOUT_MS = 10 * 60_000;

/**
 * @param folder the root of the tree whose tests are run
 * @returns all as timed out if the run hangs: its results would be in the report that it never wrote
 * @throws Error with the output if the run left no report
 */
export async function runTests(
  folder: string,
  wanted: readonly Catchers[],
  timeoutMs = wanted.length * FILE_TIMEOUT_MS,
): Promise<TestRun[]> {
  const directory = await mkdtemp(join(tmpdir(), 'waybill-mutants-report-'));
  try {
    const report = join(directory, 'report.json');
    const names = wanted.flatMap(({ tests }) => tests);
    const { output, hangs } = await vitest(folder, timeoutMs, [
      ...new Set(wanted.map(({ file }) => file)),
      '--testNamePattern',
      `^(${names.map(escaped).join('|')})$`,
      '--reporter=json',
      `--outputFile=${report}`,
    ]);
    if (hangs)
      return wanted.flatMap(({ file, tests }) => tests.map((test) => ({ file, test, outcome: 'timed out' })));
    const text = await readFile(report, 'utf8').catch(() => {
      throw new Error(`The tests left no report:\n${output}`);
    });
    const { testResults } = v.parse(Report, JSON.parse(text));
    return wanted.flatMap(({ file, tests }) => {
      const ran = testResults.filter(({ name }) => name === join(folder, file));
      const results = ran.flatMap(({ assertionResults }) => assertionResults);
      return tests.map((test) => ({ file, test, outcome: outcomeOf(test, results) }));
    });
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

function outcomeOf(test: string, results: readonly { fullName: string; status: string }[]): Outcome {
  const own = results.filter(({ fullName, status }) => fullName === test && status !== 'skipped');
  if (own.length === 0) return 'missing';
  return own.some(({ status }) => status === 'failed') ? 'failed' : 'passed';
}

/** Resolves with the end of its output, however it ended. */
async function vitest(folder: string, timeoutMs: number, args: readonly string[]) {
  const program = join(folder, 'node_modules', 'vitest', 'vitest.mjs');
  const child = spawn(process.execPath, [program, 'run', ...args], {
    cwd: folder,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let hangs = false;
  // With the servers that its tests have started, each of which has a process group of its own.
  const timer = setTimeout(() => {
    hangs = true;
    signalTree(child.pid ?? null, 'SIGTERM');
  }, timeoutMs);
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output = (output + text).slice(-8_000);
    });
  }
  const closed = once(child, 'close');
  await once(child, 'exit');
  clearTimeout(timer);
  // What a run that hangs has started may keep its output open.
  if (!hangs) await closed;
  return { output, hangs };
}
