/** Waybill as a separate process, for tests that kill it. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { builtMain } from './built.ts';

/** As `npm run dev` starts it. */
export const fromSources = [
  '--import',
  'tsx',
  fileURLToPath(new URL('../../../src/main.ts', import.meta.url)),
];

export interface Program {
  /** `http://127.0.0.1:<port>`; empty for ROLE=worker. */
  readonly url: string;
  /** Its page of metrics. */
  readonly metricsUrl: string;
  readonly pid: number;
  /** Its exit code, once it has ended; null if a signal ended it. */
  readonly ended: Promise<number | null>;
  /** Everything it has written so far. */
  output(): string;
  /** Kills it as a power cut would, and waits until it is gone. */
  kill(): Promise<void>;
  /** Asks it to stop, and waits until it has ended. */
  stop(): Promise<number | null>;
}

/**
 * Starts the program and waits until it is ready.
 * @param timeoutMs a first start creates databases on the disk, and a busy machine is slow
 * @param program Node's arguments; default: the built program
 * @param within a command that executes the one after its own arguments
 * @throws Error with its output if it ends before that
 */
export async function startProgram(
  env: Readonly<Record<string, string>>,
  timeoutMs = 180_000,
  program: readonly string[] = [builtMain],
  within: readonly string[] = [],
): Promise<Program> {
  const { PATH, HOME, XDG_CACHE_HOME } = process.env;
  const inherited = Object.fromEntries(
    Object.entries({ PATH, HOME, XDG_CACHE_HOME }).filter(([, value]) => value !== undefined),
  );
  const [command = process.execPath, ...words] = [...within, process.execPath, ...program];
  const child = spawn(command, words, {
    // A program started by npm stops when its parent is gone: an interrupted run leaves nothing behind.
    env: { ...inherited, npm_lifecycle_event: 'start', PORT: '0', LOG_LEVEL: 'warn', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
  }
  child.once('exit', (code, signal) => {
    output += `\n(ended with ${code ?? signal})\n`;
  });
  const exited = once(child, 'exit');
  await ready(child, () => output, timeoutMs);
  return {
    url: /API\s+(http:\S+)\/v21/.exec(output)?.[1] ?? '',
    metricsUrl: /Metrics\s+(http:\S+)/.exec(output)?.[1] ?? '',
    pid: child.pid ?? 0,
    ended: exited.then(() => child.exitCode),
    output: () => output,
    async kill() {
      child.kill('SIGKILL');
      await exited;
    },
    async stop() {
      child.kill('SIGTERM');
      await exited;
      return child.exitCode;
    },
  };
}

async function ready(child: ChildProcess, output: () => string, timeoutMs: number): Promise<void> {
  for (const end = Date.now() + timeoutMs; ; ) {
    // The banner is written in one piece.
    if (output().includes('Waybill is ready.')) return;
    if (child.exitCode !== null || child.signalCode !== null) {
      throw new Error(`The program ended before it was ready:\n${output()}`);
    }
    if (Date.now() > end) {
      child.kill('SIGKILL');
      throw new Error(`The program was not ready after ${timeoutMs} ms:\n${output()}`);
    }
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}
