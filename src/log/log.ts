/**
 * The log of a process, on stderr since stdout is for results: JSON objects, one per line, or lines for a terminal.
 *
 * Module log, which imports attempt, lib, traces, workflows. Begin: `delivery-log.ts` says what is logged of
 * deliveries.
 */
import pino, { type Logger } from 'pino';
import { deliveryIdOf } from '../../workflows/delivery-id.ts';
import { currentTrace } from '../traces/traces.ts';
import { loggedError } from './logged-error.ts';
import type { Output } from './output.ts';

interface LogOptions {
  readonly level: string;
  /** In every JSON line. */
  readonly role: string;
  /** Whether a person is watching. */
  readonly terminal: boolean;
  readonly colors: boolean;
  readonly to: Output;
}

/** A line for people: the event, then everything else known about it. */
const MESSAGE = '{msg}{if method}: {method} {route} {status} in {ms} ms{end}{if reason}: {reason}{end}';
/** In the message already, or known to the person watching. */
const SAID = 'pid,hostname,role,method,route,status,ms,reason';

export async function createLog({ level, role, terminal, colors, to }: LogOptions) {
  const written = {
    level,
    base: { role },
    serializers: { err: loggedError, workflowId: loggedWorkflowId },
    ...(terminal ? {} : { mixin: traceOfLine }),
  };
  const log = pino(written, terminal ? await linesForPeople(to, colors) : to);
  to.onResumed((count) => log.warn({ count }, 'log lines were lost: they could not be written'));
  return log;
}

/** `release/<e-shop>/<order>` */
const RELEASE = /^(release\/[^/]*)\/.*$/s;

/**
 * Without the identifiers of an e-shop's records; that of a delivery is `delivery/<delivery id>`, by which `waybill
 * deliveries show` and `waybill replay` find it.
 */
function loggedWorkflowId(workflowId: unknown): unknown {
  if (typeof workflowId !== 'string') return workflowId;
  const deliveryId = deliveryIdOf(workflowId);
  return deliveryId === null ? workflowId.replace(RELEASE, '$1/…') : `delivery/${deliveryId}`;
}

/** Loaded only for a terminal. */
async function linesForPeople(to: Output, colors: boolean) {
  const { prettyFactory } = await import('pino-pretty');
  const shown = prettyFactory({
    messageFormat: MESSAGE,
    ignore: SAID,
    translateTime: 'SYS:HH:MM:ss',
    singleLine: true,
    colorize: colors,
  });
  return { write: (line: string) => to.write(shown(line)) };
}

/** The field names that OpenTelemetry uses in logs not its own. */
function traceOfLine(): object {
  const here = currentTrace();
  return here === undefined ? {} : { trace_id: here.traceId, span_id: here.spanId };
}

/**
 * Logs that a part of the process runs.
 * @returns a function that logs that it has stopped
 */
export function logStarted(
  log: Logger,
  part: string,
  where: Readonly<Record<string, string>> = {},
): () => void {
  log.info({ part, ...where }, `${part} started`);
  return () => log.info({ part }, `${part} stopped`);
}
