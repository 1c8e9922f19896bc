/** Waybill itself, as a process. */
import { isDeepStrictEqual } from 'node:util';
import { isListed } from '../../src/embedded/processes.ts';
import type { Part } from '../../test/support/harness/part.ts';
import { freezing } from '../../test/support/harness/processes.ts';
import { type Program, startProgram } from '../../test/support/programs/program.ts';

/** The longest restart under a fault's load, in milliseconds. */
const READY_MS = 120_000;

/** A Waybill process in one of its roles. */
export interface ProgramPart extends Part {
  readonly name: string;
  /** All its output, over all its starts. */
  output(): string;
  /** The exit code of its last requested stop: 0 is a proper end. */
  readonly exitCode: number | null;
  /** Runs it with these further environment variables, at later starts too; one that has them already goes on. */
  runWith(variables: Readonly<Record<string, string>>): Promise<void>;
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
  const part: ProgramPart = {
    name,
    output: () => past + (program?.output() ?? ''),
    get exitCode() {
      return exitCode;
    },
    alive: () => program !== undefined && isListed(program.pid),
    async runWith(next) {
      if (program !== undefined && isDeepStrictEqual(next, variables)) return;
      if (program !== undefined) await part.stop();
      variables = next;
      await part.start();
    },
    async kill() {
      await program?.kill();
      gone();
    },
    ...freezing(() => program?.pid ?? null),
    async stop() {
      if (program !== undefined) exitCode = await program.stop();
      gone();
    },
    async start() {
      program = await startProgram({ ...env, ...variables }, READY_MS);
    },
  };
  return part;
}
