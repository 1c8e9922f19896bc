/** The table of waits between the attempts of a delivery, as in docs/guides/retries.md. */
import { maxAttempts, type RetryPolicy, waits } from '../domain/retry-policy.ts';
import { counted } from '../domain/text.ts';
import { table } from './layout.ts';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

/** A time in milliseconds for people, in one or two units: `250 ms`, `37.5 s`, `2 min 7 s`, `15 h 24 min`. */
export function formatTime(ms: number): string {
  if (ms < SECOND) return `${Math.round(ms)} ms`;
  if (ms < MINUTE) return `${Number((ms / SECOND).toFixed(1))} s`;
  const [unit, name, part, partName] =
    Math.round(ms / SECOND) * SECOND < HOUR
      ? ([MINUTE, 'min', SECOND, 's'] as const)
      : ([HOUR, 'h', MINUTE, 'min'] as const);
  const parts = Math.round(ms / part);
  const whole = Math.floor(parts / (unit / part));
  const rest = parts % (unit / part);
  return rest === 0 ? `${whole} ${name}` : `${whole} ${name} ${rest} ${partName}`;
}

/** A time rounded to its largest unit, for a narrow column: `38 s`, `2 min`, `15 h`. */
export function briefTime(ms: number): string {
  if (ms >= HOUR) return `${Math.round(ms / HOUR)} h`;
  return ms >= MINUTE ? `${Math.round(ms / MINUTE)} min` : `${Math.round(ms / SECOND)} s`;
}

/** A sum of waits: in hours with one decimal, or in a smaller unit below an hour. */
function sumOf(ms: number): string {
  return ms < HOUR ? formatTime(ms) : `${(ms / HOUR).toFixed(1)} h`;
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
    rows.push(row(attempts, formatTime(wait), formatTime(sum)));
  }
  const planned = maxAttempts(policy);
  const conclusion =
    attempts === planned
      ? `The ${counted(planned - 1, 'wait')} ${planned === 2 ? 'adds' : 'add'} up to ${sumOf(sum)}, inside the window of ${formatTime(policy.windowMs)}.`
      : `Attempts ${attempts + 1} to ${planned} would begin after the window of ${formatTime(policy.windowMs)} and are not made.`;
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
