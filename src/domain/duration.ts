/** Durations for people. */

const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

/** A duration in milliseconds, in one or two units: `250 ms`, `37.5 s`, `2 min 7 s`, `15 h 24 min`. */
export function duration(ms: number): string {
  if (ms < SECOND_MS) return `${Math.round(ms)} ms`;
  if (ms < MINUTE_MS) return `${Number((ms / SECOND_MS).toFixed(1))} s`;
  const [unit, name, part, partName] =
    Math.round(ms / SECOND_MS) * SECOND_MS < HOUR_MS
      ? ([MINUTE_MS, 'min', SECOND_MS, 's'] as const)
      : ([HOUR_MS, 'h', MINUTE_MS, 'min'] as const);
  const parts = Math.round(ms / part);
  const whole = Math.floor(parts / (unit / part));
  const rest = parts % (unit / part);
  return rest === 0 ? `${whole} ${name}` : `${whole} ${name} ${rest} ${partName}`;
}

/** A duration rounded to its largest unit: `38 s`, `2 min`, `15 h`, `3 d`. */
export function briefDuration(ms: number): string {
  if (ms < MINUTE_MS) return `${Math.max(0, Math.round(ms / SECOND_MS))} s`;
  if (ms < HOUR_MS) return `${Math.round(ms / MINUTE_MS)} min`;
  return ms < 2 * DAY_MS ? `${Math.round(ms / HOUR_MS)} h` : `${Math.round(ms / DAY_MS)} d`;
}
