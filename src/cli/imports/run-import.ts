/** The run of an import: each line is done and said for itself. */
import { counted } from '../../domain/words.ts';
import type { CommandContext } from '../../lib/command-line.ts';
import { UserError } from '../../lib/user-error.ts';
import { untilInterrupted } from '../interruption.ts';
import { table } from '../layout.ts';
import type { ImportSource } from './import-lines.ts';
import { progressBar } from './progress-bar.ts';

/** What became of a line. `unmapped`: a part of it has no counterpart here. */
export type Outcome = 'created' | 'skipped' | 'refused' | 'unmapped';

interface Import<Result extends { readonly outcome: Outcome }> {
  /** Of what is imported: "webhook". */
  readonly noun: string;
  readonly source: ImportSource;
  readonly importOne: (value: unknown) => Promise<Result>;
  /** Of a line that could not be read. */
  readonly unread: (problem: string, outcome: 'refused' | 'unmapped') => Result;
  /** Titles of the table beside line and result, and what stands under them. */
  readonly titles: readonly string[];
  readonly cells: (result: Result) => readonly (string | number)[];
  readonly dryRun: boolean;
  readonly json: boolean;
  readonly print: CommandContext['print'];
}

/** Exit code where a line was refused. */
const REFUSED = 2;
/** Lines of a table, which are held until it is printed. */
const PAGE = 50;

/** @throws UserError when a line was refused, at the end; when it was interrupted, after the line under way */
export function runImport<Result extends { readonly outcome: Outcome }>(run: Import<Result>): Promise<void> {
  return untilInterrupted('Stopped. What is listed above is done: run it again for the rest.', (signal) => {
    signal.addEventListener('abort', () => run.source.stop(signal.reason));
    return imported(run, signal);
  });
}

async function imported<Result extends { readonly outcome: Outcome }>(
  run: Import<Result>,
  signal: AbortSignal,
): Promise<void> {
  const { dryRun, print } = run;
  const made = dryRun ? 'would be created' : 'created';
  const words = { created: made, skipped: 'skipped', refused: 'refused', unmapped: 'no counterpart' };
  const counts = { created: 0, skipped: 0, refused: 0, unmapped: 0 };
  const bar = progressBar(run.source.progress);
  let held: (readonly (string | number)[])[] = [];
  const flush = () => {
    const rows = held;
    held = [];
    if (rows.length > 0) bar.aside(() => print(table(['line', 'result', ...run.titles], rows), !dryRun));
  };
  try {
    for await (const each of run.source.lines) {
      // Of what has been read already, nothing more.
      signal.throwIfAborted();
      const result =
        'problem' in each
          ? run.unread(each.problem, each.outcome ?? 'refused')
          : await run.importOne(each.value);
      counts[result.outcome] += 1;
      if (run.json) bar.aside(() => print(JSON.stringify({ line: each.line, ...result, dryRun }), !dryRun));
      else if (held.push([each.line, words[result.outcome], ...run.cells(result)]) >= PAGE) flush();
      bar.moved();
    }
  } finally {
    // However it ends: a key, password or secret that was made is told nowhere else.
    flush();
    bar.end();
  }
  const { created, skipped, refused, unmapped } = counts;
  if (!run.json) {
    const without = unmapped === 0 ? '' : `, ${unmapped} without a counterpart`;
    print(`${counted(created, run.noun)} ${made}, ${skipped} skipped, ${refused} refused${without}.`);
  }
  if (refused > 0) throw new UserError(`${counted(refused, 'line was', 'lines were')} refused.`, REFUSED);
}
