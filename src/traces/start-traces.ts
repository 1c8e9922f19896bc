/** Traces, if a collector is configured. */
import type { Logger } from 'pino';
import type { Settings } from '../config/variables.ts';
import { onceAMinute } from '../lib/once-a-minute.ts';
import { version } from '../lib/version.ts';

const SERVICE_NAMES = { all: 'waybill', api: 'waybill-api', worker: 'waybill-worker' } as const;

/** Starts recording, if an endpoint is configured; otherwise undefined, and OpenTelemetry is not loaded. */
export async function startTraces(settings: Settings, log: Logger) {
  if (settings.OTEL_EXPORTER_OTLP_ENDPOINT === undefined || settings.OTEL_SDK_DISABLED) return undefined;
  const { recordTraces } = await import('./open-telemetry.ts');
  const leftOut = onceAMinute();
  return await recordTraces(settings, { serviceName: SERVICE_NAMES[settings.ROLE], version }, (error) => {
    const before = leftOut('lost');
    if (before !== null) log.warn({ err: error, before }, 'spans are lost: the collector does not take them');
  });
}
