/** Waybill itself, as a process of its own. */
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { isListed } from '../../src/embedded/processes.ts';
import { type Program, startProgram } from '../../test/support/program.ts';
import type { Part } from './part.ts';
import { signalTree } from './processes.ts';

const run = promisify(execFile);
/** Starting again under a fault's load, in milliseconds. */
const READY_MS = 120_000;

/**
 * Builds the program as it is shipped.
 * @throws Error with what the compiler says
 */
export async function buildProgram(): Promise<void> {
  const cwd = fileURLToPath(new URL('../..', import.meta.url));
  await run('npm', ['run', '--silent', 'build'], { cwd }).catch((error: { stdout?: string }) => {
    throw new Error(`Waybill could not be built:\n${error.stdout ?? error}`);
  });
}

/** A Waybill process in one of its roles. */
export interface ProgramPart extends Part {
  /** Everything it wrote, over all its lives. */
  output(): string;
  /** How it ended when it was last asked to: 0 in order. */
  readonly exitCode: number | null;
  /** Variables besides its own from the next start on; null for none. */
  use(variables: Readonly<Record<string, string>>): void;
  /** Started, and not ended by us. */
  readonly running: boolean;
  /** Whether its process is really there. */
  alive(): boolean;
}

/** @param env its variables; a role's port must be fixed, so that it comes back at the same address */
export function createProgramPart(name: string, env: Readonly<Record<string, string>>): ProgramPart {
  let program: Program | undefined;
  let variables: Readonly<Record<string, string>> = {};
  let past = '';
  let exitCode: number | null = null;
  const gone = () => {
    past += program?.output() ?? '';
    program = undefined;
  };
  const signal = (signalName: NodeJS.Signals) => {
    if (program !== undefined) signalTree(program.pid, signalName);
  };
  return {
    name,
    output: () => past + (program?.output() ?? ''),
    get exitCode() {
      return exitCode;
    },
    get running() {
      return program !== undefined;
    },
    alive: () => program !== undefined && isListed(program.pid),
    use(next) {
      variables = next;
    },
    async kill() {
      await program?.kill();
      gone();
    },
    freeze: () => signal('SIGSTOP'),
    thaw: () => signal('SIGCONT'),
    async stop() {
      if (program !== undefined) exitCode = await program.stop();
      gone();
    },
    async start() {
      program = await startProgram({ ...env, ...variables }, READY_MS);
    },
  };
}
