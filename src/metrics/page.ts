/**
 * The response of `GET /metrics`, in Prometheus's text format: the process's own metrics, then those of Temporal's
 * SDK.
 */
import type { Metrics } from './metrics.ts';

/** The SDK answers from memory, on this machine: after this time its metrics are left out, in milliseconds. */
const SDK_MS = 500;

interface PageOptions {
  readonly metrics: Metrics;
  /** Each brings some metrics up to date before the page is made. Never throws. */
  readonly refresh: readonly (() => Promise<void> | void)[];
  /** Where Temporal's SDK shows its own metrics; null if it does not run. */
  readonly sdkUrl: string | null;
}

/** Makes the text. */
export async function metricsPage({ metrics, refresh, sdkUrl }: PageOptions): Promise<string> {
  const [sdk] = await Promise.all([
    sdkUrl === null ? '' : sdkMetrics(sdkUrl),
    ...refresh.map((each) => each()),
  ]);
  return `${await metrics.registry.metrics()}${sdk}`;
}

async function sdkMetrics(url: string): Promise<string> {
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(SDK_MS) });
    return response.ok ? await response.text() : '';
  } catch {
    return '';
  }
}
