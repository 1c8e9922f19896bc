/** The process ends as asked for, whatever becomes of what it writes. */
import { execFileSync } from 'node:child_process';
import { closeSync, constants, openSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { folderOfFile } from '../support/ends.ts';
import { installationOfFile, programOfTest } from '../support/lifetimes.ts';
import { builtMain } from '../support/programs/built.ts';
import type { Program } from '../support/programs/program.ts';
import { nightly } from '../support/runner/nightly.ts';
import { until } from '../support/until.ts';

const installation = await installationOfFile();
const directory = await folderOfFile('waybill-output-');
/** Ends with the error that it is told to throw. */
const CRASHES = "data:text/javascript,process.on('SIGUSR2',()=>{throw new Error('planted')})";
/** With nothing in progress it takes a second or two; a supervisor that waits for so long kills it. */
const STOP_MS = 25_000;
/** Gives the program a terminal for its errors that nobody reads, as if paused. */
const PAUSED_TERMINAL = `import os, pty, sys
master, terminal = pty.openpty()
os.set_inheritable(master, True)
os.dup2(terminal, 2)
os.execvp(sys.argv[1], sys.argv[1:])`;

/** @param within the command that executes it with another stderr */
async function start(within: readonly string[]): Promise<Program> {
  return await programOfTest(
    { ...installation.env, ROLE: 'all', LOG_LEVEL: 'trace' },
    undefined,
    ['--import', CRASHES, builtMain],
    within,
  );
}

const redirected = (to: string) => ['sh', '-c', `exec "$@" 2>${to}`, 'sh'];

/** @returns its exit code; null if it had to be killed after the time that a stop may take */
async function endedBy(signal: NodeJS.Signals, program: Program): Promise<number | null> {
  const killed = setTimeout(() => void program.kill(), STOP_MS);
  process.kill(program.pid, signal);
  const code = await program.ended;
  clearTimeout(killed);
  return code;
}

test.each([['SIGTERM', 0], ...(nightly ? [['SIGINT', 0] as const] : []), ['SIGUSR2', 1]] as const)(
  'a log on a full disk does not change the end: %s exits with %i',
  async (signal, code) => {
    expect(await endedBy(signal, await start(redirected('/dev/full')))).toBe(code);
  },
);

/** Until so much of its log was written that some was lost. */
async function losesLines(program: Program): Promise<void> {
  await until('lines to be lost', async () => {
    await Promise.all(Array.from({ length: 200 }, () => fetch(`${program.url}/healthz`)));
    const page = await (await fetch(program.metricsUrl)).text();
    return Number(/^waybill_log_lines_lost_total (\d+)/m.exec(page)?.[1]) > 0;
  });
}

test.runIf(nightly)(
  'a program whose log is no longer read serves, counts the lost lines, and ends',
  async () => {
    const path = join(directory, 'pipe');
    execFileSync('mkfifo', [path]);
    const neverRead = openSync(path, constants.O_RDWR | constants.O_NONBLOCK);
    const program = await start(redirected(path));
    await losesLines(program);
    expect(await endedBy('SIGTERM', program)).toBe(0);
    closeSync(neverRead);
  },
);

test.runIf(nightly)('a program in a paused terminal serves, counts the lost lines, and ends', async () => {
  const program = await start(['python3', '-c', PAUSED_TERMINAL]);
  await losesLines(program);
  expect(await endedBy('SIGTERM', program)).toBe(0);
});
