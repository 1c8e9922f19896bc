/**
 * The Temporal SDK's log lines go where ours go, its metrics where they are asked for. Once per process: the SDK has
 * one runtime.
 */
import {
  DefaultLogger,
  type LogLevel,
  type MetricsExporterConfig,
  makeTelemetryFilterString,
  Runtime,
  type RuntimeOptions,
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
  // Every change of a worker's state is "info" there: useful, but not by default.
  INFO: 'debug',
  WARN: 'warn',
  ERROR: 'error',
};

/**
 * No reasons for a warning: the worker of the steps has activities only (docs/decisions/0017), and the workflow of a delivery that
 * failed fails, by a failure that names the record.
 */
const EXPECTED = /^(No workflows registered|Workflow failed)/;

/**
 * @param metricsAddress where the SDK shows its metrics under `/metrics`, as `host:port`; started with the process's
 * first call, or never
 */
export function routeTemporalLogs(log: Logger, metricsAddress?: string): void {
  target = log.child({ part: 'temporal-sdk' });
  if (installed) return;
  installed = true;
  const options: RuntimeOptions = {
    // The signals are ours to handle: the worker is drained in its turn.
    shutdownSignals: [],
    // Its native part writes to the terminal otherwise, in colours, for each try.
    telemetryOptions: { logging: FORWARDED },
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
  };
  if (metricsAddress === undefined) {
    Runtime.install(options);
    return;
  }
  try {
    Runtime.install({
      ...options,
      telemetryOptions: { logging: FORWARDED, metrics: metricsAt(metricsAddress) },
    });
  } catch (error) {
    // Somebody else took the port in the meantime: deliveries do not depend on it.
    log.warn({ err: error, metricsAddress }, "Temporal's SDK cannot show its metrics");
    Runtime.install(options);
  }
}

function reasonOf(error: unknown): string {
  const { type, message } = loggedError(error);
  return `${type}: ${message}`;
}

/** As Prometheus wants names and units. */
function metricsAt(bindAddress: string): MetricsExporterConfig {
  const units = { countersTotalSuffix: true, unitSuffix: true, useSecondsForDurations: true };
  return { prometheus: { bindAddress, ...units }, attachServiceName: false };
}

/** The SDK, its native part included, says nothing: for a program that reports itself what it does with it. */
export function silenceTemporalLogs(): void {
  if (installed) return;
  installed = true;
  Runtime.install({
    shutdownSignals: [],
    logger: new DefaultLogger('ERROR', () => {}),
    telemetryOptions: { logging: { filter: 'off' } },
  });
}
