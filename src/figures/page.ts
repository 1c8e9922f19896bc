/**
 * What `GET /metrics` answers, in Prometheus's text format: the process's own figures, and behind them those of Temporal's SDK.
 */
import type { Figures } from './figures.ts';

/** The SDK answers from memory, on this machine: one that takes longer is left out, in milliseconds. */
const SDK_MS = 500;

/** What makes the page. */
export interface PageOptions {
  readonly figures: Figures;
  /** Each brings some figures up to date before the page is made. Never throws. */
  readonly refresh: readonly (() => Promise<void> | void)[];
  /** Where Temporal's SDK shows its own figures; null where it does not run. */
  readonly sdkUrl: string | null;
}

/** Makes the text. */
export async function metricsPage({ figures, refresh, sdkUrl }: PageOptions): Promise<string> {
  const [sdk] = await Promise.all([
    sdkUrl === null ? '' : sdkFigures(sdkUrl),
    ...refresh.map((each) => each()),
  ]);
  return `${await figures.registry.metrics()}${sdk}`;
}

async function sdkFigures(url: string): Promise<string> {
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(SDK_MS) });
    return response.ok ? await response.text() : '';
  } catch {
    return '';
  }
}
