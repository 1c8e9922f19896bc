/** Traces, if somebody collects them. */
import type { Logger } from 'pino';
import type { Settings } from '../config/variables.ts';
import { version } from '../lib/version.ts';
import type { RecordedTraces } from './open-telemetry.ts';

/** A line that says why spans are lost comes at most this often, in milliseconds. */
const SAID_EVERY_MS = 60_000;

const SERVICE_NAMES = { all: 'waybill', api: 'waybill-api', worker: 'waybill-worker' } as const;

export function tracesAreOn(settings: Settings): boolean {
  return settings.OTEL_EXPORTER_OTLP_ENDPOINT !== undefined && !settings.OTEL_SDK_DISABLED;
}

/** Starts recording, if an endpoint is configured; else null, with nothing of OpenTelemetry loaded. */
export async function startTraces(settings: Settings, log: Logger): Promise<RecordedTraces | null> {
  if (!tracesAreOn(settings)) return null;
  const { recordTraces } = await import('./open-telemetry.ts');
  let saidAt = Number.NEGATIVE_INFINITY;
  let unsaid = 0;
  return await recordTraces(settings, { serviceName: SERVICE_NAMES[settings.ROLE], version }, (error) => {
    if (performance.now() - saidAt < SAID_EVERY_MS) {
      unsaid += 1;
      return;
    }
    saidAt = performance.now();
    log.warn({ err: error, before: unsaid }, 'spans are lost: the collector does not take them');
    unsaid = 0;
  });
}
