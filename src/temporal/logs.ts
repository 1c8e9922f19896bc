/** Sends the SDK's log lines to our logger, and serves its metrics if configured. Only once: it has one runtime. */
import {
  DefaultLogger,
  type LogLevel,
  type MetricsExporterConfig,
  makeTelemetryFilterString,
  Runtime,
} from '@temporalio/worker';
import type { Logger } from 'pino';
import { onceAMinute } from '../lib/once-a-minute.ts';
import { loggedError } from '../log/logged-error.ts';

let target: Logger | undefined;
let installed = false;
const lines = onceAMinute();

const FORWARDED = { forward: {}, filter: makeTelemetryFilterString({ core: 'WARN', other: 'ERROR' }) };

const levels: Record<LogLevel, 'trace' | 'debug' | 'info' | 'warn' | 'error'> = {
  TRACE: 'trace',
  DEBUG: 'debug',
  // The SDK logs every change of a worker's state as "info": useful, but not by default.
  INFO: 'debug',
  WARN: 'warn',
  ERROR: 'error',
};

/**
 * Expected, so no reason to warn: the worker of the steps has only activities (docs/decisions/0017), and the
 * workflow of a failed delivery fails with a failure that names the record.
 */
const EXPECTED = /^(No workflows registered|Workflow failed)/;

/** @param metricsAddress `host:port` at which the SDK serves `/metrics`; used only by the first call of a process */
export function routeTemporalLogs(log: Logger, metricsAddress?: string): void {
  target = log.child({ part: 'temporal-sdk' });
  if (installed) return;
  installed = true;
  const metrics = metricsAddress === undefined ? {} : { metrics: metricsAt(metricsAddress) };
  Runtime.install({
    // We handle the signals ourselves: the shutdown drains the worker in its turn.
    shutdownSignals: [],
    // Otherwise the SDK's native part writes to the terminal, in color, at each try.
    telemetryOptions: { logging: FORWARDED, ...metrics },
    logger: new DefaultLogger('INFO', ({ level, message, meta }) => {
      const { error, ...rest } = meta ?? {};
      const loud = level === 'WARN' || level === 'ERROR';
      const leftOut = loud ? lines(`${level} ${message} ${error === undefined ? '' : reasonOf(error)}`) : 0;
      if (leftOut === null) return;
      const expected = EXPECTED.test(message);
      const reason = error === undefined || expected ? {} : { reason: reasonOf(error) };
      target?.[expected ? 'debug' : levels[level]](
        { ...rest, ...reason, ...(leftOut === 0 ? {} : { leftOut }) },
        message,
      );
    }),
  });
}

function reasonOf(error: unknown): string {
  const { type, message } = loggedError(error);
  return `${type}: ${message}`;
}

/** Names and units in Prometheus style. */
function metricsAt(bindAddress: string): MetricsExporterConfig {
  const units = { countersTotalSuffix: true, unitSuffix: true, useSecondsForDurations: true };
  return { prometheus: { bindAddress, ...units }, attachServiceName: false };
}

/** Silences the SDK, its native part included: for a program that reports its results itself. */
export function silenceTemporalLogs(): void {
  if (installed) return;
  installed = true;
  Runtime.install({
    shutdownSignals: [],
    logger: new DefaultLogger('ERROR', () => {}),
    telemetryOptions: { logging: { filter: 'off' } },
  });
}
