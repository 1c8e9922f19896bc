/** Durations for people. */

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** A duration in milliseconds, in one or two units: `250 ms`, `37.5 s`, `2 min 7 s`, `15 h 24 min`. */
export function duration(ms: number): string {
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

/** A duration rounded to its largest unit: `38 s`, `2 min`, `15 h`, `3 d`. */
export function briefDuration(ms: number): string {
  if (ms < MINUTE) return `${Math.max(0, Math.round(ms / SECOND))} s`;
  if (ms < HOUR) return `${Math.round(ms / MINUTE)} min`;
  return ms < 2 * DAY ? `${Math.round(ms / HOUR)} h` : `${Math.round(ms / DAY)} d`;
}
