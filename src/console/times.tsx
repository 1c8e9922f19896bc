/** @jsxRuntime automatic @jsxImportSource hono/jsx */
/** Times and durations for people. All times are in UTC, and say so. */

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** "3 min", "2 h", "5 d": the largest whole unit. */
function span(ms: number): string {
  if (ms < MINUTE) return `${Math.max(0, Math.round(ms / SECOND))} s`;
  if (ms < HOUR) return `${Math.round(ms / MINUTE)} min`;
  if (ms < 2 * DAY) return `${Math.round(ms / HOUR)} h`;
  return `${Math.round(ms / DAY)} d`;
}

/** "212 ms", "3.4 s" */
export function duration(ms: number): string {
  return ms < SECOND ? `${Math.round(ms)} ms` : `${(ms / SECOND).toFixed(1)} s`;
}

/** "2026-11-22 17:30:05" */
function written(iso: string): string {
  return iso.slice(0, 19).replace('T', ' ');
}

export function Time({ at }: { at: string }) {
  return (
    <time datetime={at} title="UTC">
      {written(at)}
    </time>
  );
}

/** How long ago, or how soon; the full time is its title. */
export function Ago({ at, now }: { at: string; now: Date }) {
  const ms = now.getTime() - new Date(at).getTime();
  const text = ms >= 0 ? `${span(ms)} ago` : `in ${span(-ms)}`;
  return (
    <time datetime={at} title={`${written(at)} UTC`}>
      {text}
    </time>
  );
}

/** The time of a next event, or "due" if it has passed. */
export function Due({ at, now }: { at: string; now: Date }) {
  return new Date(at) <= now ? <span>is due now</span> : <Ago at={at} now={now} />;
}

/** The value of a `datetime-local` field as a time in UTC; an invalid one is left for the API to refuse. */
export function fromField(text: string | undefined): string | undefined {
  return text !== undefined && /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d+)?)?$/.test(text) ? `${text}Z` : text;
}
