/** A period that ends now, in steps. */
export interface Range {
  readonly name: string;
  readonly title: string;
  readonly seconds: number;
  readonly stepSeconds: number;
  /** The meaning of a bar. */
  readonly step: string;
}

const HOUR = 3_600;

const hour: Range = { name: '1h', title: 'Hour', seconds: HOUR, stepSeconds: 60, step: 'per minute' };

/** The shortest first. */
export const ranges: readonly Range[] = [
  hour,
  { name: '6h', title: '6 hours', seconds: 6 * HOUR, stepSeconds: 300, step: 'per 5 minutes' },
  { name: '24h', title: 'Day', seconds: 24 * HOUR, stepSeconds: 1_200, step: 'per 20 minutes' },
  { name: '7d', title: 'Week', seconds: 168 * HOUR, stepSeconds: 3 * HOUR, step: 'per 3 hours' },
];

/** The range of this name, or the first. */
export function rangeOf(name: string | undefined): Range {
  return ranges.find((range) => range.name === name) ?? hour;
}
