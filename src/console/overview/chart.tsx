/** Deliveries over time as bars, with a table of the numbers, which screen readers can read too. */
import { type CountStep, countOf } from '../../db/console/delivery-counts.ts';
import { More, Table } from '../parts.tsx';
import { Time } from '../times.tsx';

const HOUR = 3_600;

/** Periods that end now, in steps, shortest first. `step` is the period of one bar. */
export const ranges = [
  { name: '1h', title: 'Hour', seconds: HOUR, stepSeconds: 60, step: 'per minute' },
  { name: '6h', title: '6 hours', seconds: 6 * HOUR, stepSeconds: 300, step: 'per 5 minutes' },
  { name: '24h', title: 'Day', seconds: 24 * HOUR, stepSeconds: 1_200, step: 'per 20 minutes' },
  { name: '7d', title: 'Week', seconds: 168 * HOUR, stepSeconds: 3 * HOUR, step: 'per 3 hours' },
] as const;
export type Range = (typeof ranges)[number];

/** The range of this name, or the first. */
export function rangeOf(name: string | undefined): Range {
  return ranges.find((range) => range.name === name) ?? ranges[0];
}

const WIDTH = 900;
const HEIGHT = 240;
/** Room for a number such as 500K in the larger text of a narrow screen. */
const LEFT = 76;
const BOTTOM = 34;
const TOP = 22;

/** The parts of a bar, from the bottom. */
const PARTS = [
  { key: 'delivered', tone: 'good', name: 'delivered' },
  { key: 'waiting', tone: 'warn', name: 'waiting' },
  { key: 'lost', tone: 'bad', name: 'failed, expired or canceled' },
  { key: 'superseded', tone: 'calm', name: 'superseded' },
] as const;

const ROUND = [1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10];

/** Rounds up to a round number that is not much higher: 1, 2, 3, 4, 5, 6, 8, 10, 12, 15 … */
export function roundAbove(count: number): number {
  const magnitude = 10 ** Math.floor(Math.log10(Math.max(1, count)));
  const ends = ROUND.map((each) => each * magnitude).filter(Number.isInteger);
  return ends.find((end) => end >= count) ?? 10 * magnitude;
}

/** The minimum number of steps shown: with fewer, the bars would be too wide. */
const MIN_BARS = 20;

function Bar({ step, x, width, perUnit }: { step: CountStep; x: number; width: number; perUnit: number }) {
  let y = HEIGHT - BOTTOM;
  return (
    <>
      {PARTS.map(({ key, tone }) => {
        // Even the smallest count must be visible.
        const height = step[key] === 0 ? 0 : Math.max(1.5, step[key] * perUnit);
        y -= height;
        return height === 0 ? null : (
          <rect
            class={tone}
            x={x.toFixed(1)}
            y={y.toFixed(1)}
            width={width.toFixed(1)}
            height={height.toFixed(1)}
          />
        );
      })}
    </>
  );
}

/** The time below the bars: a date if the range is in days, else a time of day, which the script makes local. */
function Tick({ x, at, range: { seconds } }: { x: number; at: Date; range: Range }) {
  const iso = at.toISOString();
  const isDate = seconds > 2 * 86_400;
  return (
    <text x={x} y={HEIGHT - 6} {...(isDate ? {} : { 'data-at': iso })}>
      {isDate ? iso.slice(5, 10) : iso.slice(11, 16)}
    </text>
  );
}

/** @param now its right end */
export function Chart({ steps, range, now }: { steps: readonly CountStep[]; range: Range; now: Date }) {
  const maximum = roundAbove(Math.max(1, ...steps.map(countOf)));
  const stepMs = range.stepSeconds * 1_000;
  const last = Math.floor(now.getTime() / stepMs) * stepMs;
  // The chart begins with the first delivery: everything earlier is empty.
  const since = Math.floor((last - (steps[0]?.at.getTime() ?? last)) / stepMs) + 1;
  const bars = Math.min(Math.round(range.seconds / range.stepSeconds), Math.max(MIN_BARS, since));
  const first = last - (bars - 1) * stepMs;
  const slot = (WIDTH - LEFT) / bars;
  const perUnit = (HEIGHT - BOTTOM - TOP) / maximum;
  const total = steps.reduce((sum, step) => sum + countOf(step), 0);
  const lost = steps.reduce((sum, step) => sum + step.lost, 0);
  const summary = `Deliveries ${range.step}: ${total} in all, ${lost} of them failed, expired or canceled.`;
  // Only webhooks with the order `latest` have superseded deliveries.
  const shown = PARTS.filter(({ key }) => key !== 'superseded' || steps.some((step) => step[key] > 0));
  const lines = maximum % 2 === 0 ? [0, 0.5, 1] : [0, 1];
  const ticks = [0, 0.25, 0.5, 0.75].map((part) => Math.round(part * bars));
  if (total === 0) return <p class="quiet">No deliveries in this time.</p>;
  return (
    <figure class="chart stack">
      <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} role="img" aria-label={summary}>
        {lines.map((part) => {
          const y = HEIGHT - BOTTOM - part * maximum * perUnit;
          return (
            <>
              <line class="grid" x1={LEFT} x2={WIDTH} y1={y} y2={y} />
              <text x={LEFT - 8} y={y + 4} text-anchor="end">
                {(part * maximum).toLocaleString('en-US', { notation: 'compact' })}
              </text>
            </>
          );
        })}
        {steps.map((step) => {
          const place = Math.round((step.at.getTime() - first) / stepMs);
          if (place < 0 || place >= bars) return null;
          return (
            <Bar step={step} x={LEFT + place * slot + slot * 0.12} width={slot * 0.76} perUnit={perUnit} />
          );
        })}
        {ticks.map((place) => (
          <Tick x={LEFT + place * slot} at={new Date(first + place * stepMs)} range={range} />
        ))}
      </svg>
      <figcaption class="legend">
        {shown.map(({ tone, name }) => (
          <span>
            <i class={tone}></i>
            {name}
          </span>
        ))}
      </figcaption>
      <More id="chart-table" title="As a table" small>
        <Table label="Table" columns={['From']} numbers={shown.map(({ name }) => name)}>
          {steps.toReversed().map((step) => (
            <tr>
              <td>
                <Time at={step.at.toISOString()} />
              </td>
              {shown.map(({ key }) => (
                <td class="number">{step[key].toLocaleString('en-US')}</td>
              ))}
            </tr>
          ))}
        </Table>
      </More>
    </figure>
  );
}
