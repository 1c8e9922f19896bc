/** Waybill itself, as a process. */
import { isListed } from '../../src/embedded/processes.ts';
import { type Program, startProgram } from '../../test/support/programs/program.ts';
import type { Part } from './part.ts';
import { signalTree } from './processes.ts';

/** The longest restart under a fault's load, in milliseconds. */
const READY_MS = 120_000;

/** A Waybill process in one of its roles. */
export interface ProgramPart extends Part {
  /** All its output, over all its starts. */
  output(): string;
  /** The exit code of its last requested stop: 0 is a proper end. */
  readonly exitCode: number | null;
  /** Sets further environment variables from the next start on. */
  use(variables: Readonly<Record<string, string>>): void;
  /** Started, and not stopped by the harness. */
  readonly running: boolean;
  /** Whether its process really exists. */
  alive(): boolean;
}

/** @param env its environment variables; a role's port must be fixed, so that it comes back at the same address */
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
