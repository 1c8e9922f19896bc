/** Times and durations for people. */
import { briefDuration } from '../domain/duration.ts';
import { useViewer } from './viewer.ts';

/** The same as in `localTimes` of console.js. */
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

/** A time in UTC, which the page's script turns into the reader's own; the full time is its title. */
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
  const text = ms >= 0 ? `${briefDuration(ms)} ago` : `in ${briefDuration(-ms)}`;
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
