/** The run of an import: each line is done and said for itself. */
import { counted } from '../../domain/words.ts';
import { UserError } from '../../lib/user-error.ts';
import { untilInterrupted } from '../interruption.ts';
import { table } from '../layout.ts';
import type { ImportLine } from './import-lines.ts';
import { progressBar } from './progress-bar.ts';

/** What became of a line. `unmapped`: a part of it has no counterpart here. */
export type Outcome = 'created' | 'skipped' | 'refused' | 'unmapped';

interface Import<Result extends { readonly outcome: Outcome }> {
  /** Of what is imported: "webhook". */
  readonly noun: string;
  readonly lines: AsyncIterable<ImportLine>;
  /** How much has been read, from 0 to 1; null where nobody knows. */
  readonly progress: () => number | null;
  readonly importOne: (value: unknown) => Promise<Result>;
  /** Of a line that could not be read. */
  readonly unread: (problem: string, outcome: 'refused' | 'unmapped') => Result;
  /** Titles of the table beside line and result, and what stands under them. */
  readonly titles: readonly string[];
  readonly cells: (result: Result) => readonly (string | number)[];
  readonly dryRun: boolean;
  readonly json: boolean;
  readonly print: (line: string) => void;
}

/** Exit code where a line was refused. */
const REFUSED = 2;
/** Lines of a table, which are held until it is printed. */
const PAGE = 50;

/** What comes until then. @throws the signal's reason once it is aborted, also where nothing comes */
async function* until<T>(lines: AsyncIterable<T>, signal: AbortSignal): AsyncGenerator<T> {
  const aborted = new Promise<never>((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  });
  // Nobody waits for it while a line is imported.
  aborted.catch(() => {});
  const iterator = lines[Symbol.asyncIterator]();
  for (;;) {
    signal.throwIfAborted();
    const next = await Promise.race([iterator.next(), aborted]);
    if (next.done === true) return;
    yield next.value;
  }
}

/** @throws UserError when a line was refused, at the end; when it was interrupted, after the line under way */
export function runImport<Result extends { readonly outcome: Outcome }>(run: Import<Result>): Promise<void> {
  return untilInterrupted('Stopped. What is listed above is done: run it again for the rest.', (signal) =>
    imported(run, signal),
  );
}

async function imported<Result extends { readonly outcome: Outcome }>(
  run: Import<Result>,
  signal: AbortSignal,
): Promise<void> {
  const { dryRun, print } = run;
  const made = dryRun ? 'would be created' : 'created';
  const words = { created: made, skipped: 'skipped', refused: 'refused', unmapped: 'no counterpart' };
  const counts = { created: 0, skipped: 0, refused: 0, unmapped: 0 };
  const bar = progressBar(run.progress);
  let held: (readonly (string | number)[])[] = [];
  const flush = () => {
    const rows = held;
    held = [];
    if (rows.length > 0) bar.aside(() => print(table(['line', 'result', ...run.titles], rows)));
  };
  try {
    for await (const each of until(run.lines, signal)) {
      const result =
        'problem' in each
          ? run.unread(each.problem, each.outcome ?? 'refused')
          : await run.importOne(each.value);
      counts[result.outcome] += 1;
      if (run.json) bar.aside(() => print(JSON.stringify({ line: each.line, ...result, dryRun })));
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
