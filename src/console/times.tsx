/** Times and durations for people. */
import type { RetryPolicy } from '../domain/retry-policy.ts';
import { useViewer } from './viewer.ts';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** "3 min", "2 h", "5 d": the largest whole unit. */
export function span(ms: number): string {
  if (ms < MINUTE) return `${Math.max(0, Math.round(ms / SECOND))} s`;
  if (ms < HOUR) return `${Math.round(ms / MINUTE)} min`;
  if (ms < 2 * DAY) return `${Math.round(ms / HOUR)} h`;
  return `${Math.round(ms / DAY)} d`;
}

/** The window of a delivery: "48 h"; below an hour "15 min". */
export function windowText({ windowMs }: RetryPolicy): string {
  return windowMs < HOUR ? span(windowMs) : `${Number((windowMs / HOUR).toFixed(1))} h`;
}

/** "212 ms", "3.4 s" */
export function duration(ms: number): string {
  return ms < SECOND ? `${Math.round(ms)} ms` : `${(ms / SECOND).toFixed(1)} s`;
}

/** As in `localTimes` of console.js. */
const SHORT = {
  day: 'numeric',
  month: 'short',
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
  timeZone: 'UTC',
} as const satisfies Intl.DateTimeFormatOptions;
const ofThisYear = new Intl.DateTimeFormat('en-GB', SHORT);
const ofAnyYear = new Intl.DateTimeFormat('en-GB', { ...SHORT, year: 'numeric' });

/** "22 Nov, 17:30:05", or "22 Nov 2025, 17:30:05" in another year. */
function short(at: Date): string {
  const isOfThisYear = at.getUTCFullYear() === new Date().getUTCFullYear();
  return (isOfThisYear ? ofThisYear : ofAnyYear).format(at);
}

/** "2026-11-22 17:30:05 UTC" */
function written(iso: string): string {
  return `${iso.slice(0, 19).replace('T', ' ')} UTC`;
}

/** A time in UTC, which the page's script turns into the reader's own; the full one is its title. */
export function Time({ at }: { at: string }) {
  return (
    <time datetime={at} title={written(at)} class="at">
      {short(new Date(at))}
    </time>
  );
}

/** How long ago, or how soon; the full time is its title. */
export function Ago({ at }: { at: string }) {
  const ms = useViewer().now.getTime() - new Date(at).getTime();
  const text = ms >= 0 ? `${span(ms)} ago` : `in ${span(-ms)}`;
  return (
    <time datetime={at} title={written(at)}>
      {text}
    </time>
  );
}

/** The time of a next event, or "due" if it has passed. */
export function Due({ at }: { at: string }) {
  return new Date(at) <= useViewer().now ? <span>is due now</span> : <Ago at={at} />;
}

/** The value of a `datetime-local` field as a time in UTC; an invalid one is left for the API to refuse. */
export function fromField(text: string | undefined): string | undefined {
  return text !== undefined && /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d+)?)?$/.test(text) ? `${text}Z` : text;
}
