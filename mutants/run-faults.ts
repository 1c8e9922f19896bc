/** Plays the rounds of one fault in a copy of the repository, and returns the checker's findings. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import * as v from 'valibot';

/** The part of the report of `npm run faults -- --json` that is read. */
const Rounds = v.array(
  v.object({ verdict: v.object({ violations: v.array(v.object({ kind: v.string(), text: v.string() })) }) }),
);

/** Different policies, moments and lengths of the same fault. */
const ROUNDS = 4;
/** The time after which a run counts as hanging, in milliseconds. */
const RUN_TIMEOUT_MS = 15 * 60_000;

/**
 * @param folder the root of the tree
 * @returns the checker's findings, as sentences; none if it found nothing wrong
 * @throws Error with the output if the rounds left no report
 */
export async function playFault(folder: string, fault: string): Promise<string[]> {
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
  if (!rounds.success) throw new Error(`The rounds left no report:\n${output}`);
  return rounds.output.flatMap(({ verdict }) =>
    verdict.violations.map(({ kind, text }) => `${kind}: ${text}`),
  );
}
