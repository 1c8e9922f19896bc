/** Plays the rounds of one fault in a copy of the repository, and returns the findings of the checker. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import * as v from 'valibot';

/** The part of the report of `npm run faults -- --json` that is read. */
const Rounds = v.array(
  v.object({
    unplayed: v.optional(v.string()),
    verdict: v.object({ violations: v.array(v.object({ kind: v.string(), text: v.string() })) }),
  }),
);

/** What the rounds say about a defect. */
export interface FaultFindings {
  /** The checker's, as sentences, from the rounds that were played; none if it found nothing wrong. */
  readonly findings: readonly string[];
  /** Why rounds could not be played, one for each; or one if there were no rounds or there is no report. */
  readonly unplayed: readonly string[];
}

/** `SURVIVED` only if every round was played: one that was not says nothing about the defect. */
export function outcomeOfRounds({ findings, unplayed }: FaultFindings): 'caught' | 'SURVIVED' | 'not played' {
  if (findings.length > 0) return 'caught';
  return unplayed.length > 0 ? 'not played' : 'SURVIVED';
}

/** Different policies, moments and lengths of the same fault. */
const ROUNDS = 4;
/** The time after which a run counts as hanging, in milliseconds. */
const RUN_TIMEOUT_MS = 15 * 60_000;

/**
 * @param folder the root of the tree
 */
export async function playFault(folder: string, fault: string): Promise<FaultFindings> {
  // However this program ends, the rounds end in order and leave no server behind.
  const ends = "process.on('disconnect',()=>process.kill(process.pid,'SIGINT'));process.channel.unref()";
  const args = ['--only', fault, '--rounds', String(ROUNDS), '--seed', 'mutants', '--runners', '2', '--json'];
  const imports = ['--import', 'tsx', '--import', `data:text/javascript,${ends}`];
  const child = spawn(process.execPath, [...imports, 'faults/main.ts', ...args], {
    cwd: folder,
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    timeout: RUN_TIMEOUT_MS,
  });
  let report = '';
  let output = '';
  child.stdout?.setEncoding('utf8').on('data', (text: string) => {
    report += text;
  });
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    output = (output + text).slice(-8_000);
  });
  await once(child, 'close');
  const rounds = v.safeParse(v.pipe(v.string(), v.parseJson(), Rounds), report);
  const lines = output.trim().split('\n');
  if (!rounds.success) return { findings: [], unplayed: [`no report: ${lines.at(-1)}`] };
  if (rounds.output.length === 0) return { findings: [], unplayed: [lines[0] ?? 'no rounds'] };
  return {
    findings: rounds.output
      .filter(({ unplayed }) => unplayed === undefined)
      .flatMap(({ verdict }) => verdict.violations.map(({ kind, text }) => `${kind}: ${text}`)),
    unplayed: rounds.output.flatMap(({ unplayed }) => unplayed ?? []),
  };
}
