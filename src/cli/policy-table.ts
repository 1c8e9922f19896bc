/** The table of waits between the attempts of a delivery, as in docs/guides/retries.md. */
import { duration } from '../domain/duration.ts';
import { maxAttempts, type RetryPolicy, waits } from '../domain/retry-policy.ts';
import { counted } from '../domain/text.ts';
import { table } from './layout.ts';

const HOUR_MS = 3_600_000;

/** A sum of waits: in hours with one decimal, or in a smaller unit below an hour. */
function sumOf(ms: number): string {
  return ms < HOUR_MS ? duration(ms) : `${(ms / HOUR_MS).toFixed(1)} h`;
}

/**
 * The table in Markdown, with a sentence below it, for a receiver that always fails at once.
 * @param plain for a terminal, without Markdown
 * @example policyTable(defaultRetryPolicy).split('\n')[3]; // '| 2 | 25 s | 25 s |'
 */
export function policyTable(policy: RetryPolicy, plain = false): string {
  const row = (attempt: number, wait: string, since: string) => ({
    attempt,
    'after a wait of about': wait,
    'since the first attempt': since,
  });
  const first = row(1, 'at once', '0 s');
  const rows = [first];
  let sum = 0;
  let attempts = 1;
  for (const wait of waits(policy)) {
    if (sum + wait > policy.windowMs) break;
    sum += wait;
    attempts += 1;
    rows.push(row(attempts, duration(wait), duration(sum)));
  }
  const planned = maxAttempts(policy);
  const conclusion =
    attempts === planned
      ? `The ${counted(planned - 1, 'wait')} ${planned === 2 ? 'adds' : 'add'} up to ${sumOf(sum)}, inside the window of ${duration(policy.windowMs)}.`
      : `Attempts ${attempts + 1} to ${planned} would begin after the window of ${duration(policy.windowMs)} and are not made.`;
  if (plain) return `${table(rows)}\n\n${conclusion}`;
  const line = (cells: readonly (string | number)[]) => `| ${cells.join(' | ')} |`;
  return [
    line(Object.keys(first)),
    '|--:|--:|--:|',
    ...rows.map((each) => line(Object.values(each))),
    '',
    conclusion,
  ].join('\n');
}
