/** The run of an import: each line is imported and reported on its own. */
import * as v from 'valibot';
import { Problem } from '../../domain/problem.ts';
import { counted } from '../../domain/text.ts';
import { argument, type CommandContext, flag } from '../../lib/command-line.ts';
import { createProgress } from '../../lib/progress.ts';
import { untilInterrupted } from '../../lib/shutdown.ts';
import { UserError } from '../../lib/user-error.ts';
import { SOME_FAILED } from '../exit-codes.ts';
import { type Cells, table } from '../layout.ts';
import type { ImportLine } from './import-lines.ts';

export const importOptions = v.object({
  file: argument('<file>', 'NDJSON, or CSV with a header line; - for standard input', v.string()),
  dryRun: flag('--dry-run', 'print the results, but import nothing'),
});

/** The outcome of a line. `unmapped`: a part of it has no counterpart here. */
export type Outcome = 'created' | 'skipped' | 'refused' | 'unmapped';

interface Import<Result extends { readonly outcome: Outcome }> {
  /** The noun for a line's record, such as "webhook". */
  readonly noun: string;
  readonly lines: readonly ImportLine[];
  /** @throws Problem if the line is refused */
  readonly importOne: (value: unknown) => Promise<Result>;
  /** The result of a line that is not imported, without its secrets. The value is null if it could not be read. */
  readonly refused: (value: unknown, note: string, outcome: 'refused' | 'unmapped') => Result;
  /** The cells of the table after line and result. */
  readonly cells: (result: Result) => Cells;
  readonly dryRun: boolean;
  readonly json: boolean;
  readonly print: CommandContext['print'];
}

/** Lines per table, which are held until it is printed. */
const PAGE = 50;

async function resultOf<Result extends { readonly outcome: Outcome }>(
  { importOne, refused }: Import<Result>,
  line: ImportLine,
): Promise<Result> {
  if ('problem' in line) return refused(null, line.problem, line.outcome ?? 'refused');
  try {
    return await importOne(line.value);
  } catch (error) {
    if (error instanceof Problem) return refused(line.value, error.message, 'refused');
    throw error;
  }
}

/** @throws UserError at the end if a line was refused; after the current line if it was interrupted */
export async function runImport<Result extends { readonly outcome: Outcome }>(run: Import<Result>) {
  const { dryRun, print, lines } = run;
  const createdLabel = dryRun ? 'would be created' : 'created';
  const labels = {
    created: createdLabel,
    skipped: 'skipped',
    refused: 'refused',
    unmapped: 'no counterpart',
  };
  const counts = { created: 0, skipped: 0, refused: 0, unmapped: 0 };
  const progress = createProgress(false);
  let held: Cells[] = [];
  const show = (text: string) => {
    progress.stop();
    print(text, !dryRun);
  };
  const flush = () => {
    const rows = held;
    held = [];
    if (rows.length > 0) show(table(rows));
  };
  const importAll = async (signal: AbortSignal) => {
    for (const [index, each] of lines.entries()) {
      signal.throwIfAborted();
      const result = await resultOf(run, each);
      counts[result.outcome] += 1;
      if (run.json) show(JSON.stringify({ line: each.line, ...result, dryRun }));
      else if (held.push({ line: each.line, result: labels[result.outcome], ...run.cells(result) }) >= PAGE)
        flush();
      progress.show(index + 1, lines.length, 'lines');
    }
  };
  try {
    await untilInterrupted('Stopped. The lines above are done: run it again for the rest.', importAll);
  } finally {
    // Print even after a failure: a generated key, password or secret is shown nowhere else.
    flush();
    progress.stop();
  }
  const { created, skipped, refused, unmapped } = counts;
  if (!run.json) {
    const without = unmapped === 0 ? '' : `, ${unmapped} without a counterpart`;
    print(`${counted(created, run.noun)} ${createdLabel}, ${skipped} skipped, ${refused} refused${without}.`);
  }
  if (refused > 0) throw new UserError(`${counted(refused, 'line was', 'lines were')} refused.`, SOME_FAILED);
}
