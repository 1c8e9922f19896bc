/**
 * The Temporal SDK's own log lines go where ours go. Once per process: the SDK has one runtime.
 * @module
 */
import { DefaultLogger, type LogLevel, Runtime } from '@temporalio/worker';
import type { Logger } from 'pino';

let target: Logger | undefined;
let installed = false;

const levels: Record<LogLevel, 'trace' | 'debug' | 'info' | 'warn' | 'error'> = {
  TRACE: 'trace',
  DEBUG: 'debug',
  // Every change of a worker's state is "info" there: useful, but not by default.
  INFO: 'debug',
  WARN: 'warn',
  ERROR: 'error',
};

/** From now on the SDK logs to `log`. */
export function routeTemporalLogs(log: Logger): void {
  target = log.child({ part: 'temporal-sdk' });
  if (installed) return;
  installed = true;
  Runtime.install({
    // The signals are ours to handle: the worker is drained in its turn.
    shutdownSignals: [],
    logger: new DefaultLogger('INFO', ({ level, message, meta }) => {
      const { error, ...rest } = meta ?? {};
      target?.[levels[level]](error === undefined ? rest : { ...rest, reason: String(error) }, message);
    }),
  });
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
