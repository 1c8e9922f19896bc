/**
 * The log of a process: one JSON object per line, or lines for people on a terminal. It goes to stderr: stdout is for
 * results.
 *
 * Module log, which imports attempt, traces, workflows. Begin: `delivery-log.ts` says what is logged of deliveries.
 */
import pino, { type DestinationStream, type Logger } from 'pino';
import { currentTrace } from '../traces/context.ts';
import { loggedError } from './logged-error.ts';
import { loggedWorkflowId } from './logged-workflow-id.ts';

interface LogOptions {
  readonly level: string;
  /** In every line that is JSON. */
  readonly role: string;
  /** A person watches. */
  readonly terminal: boolean;
  readonly colors: boolean;
  /** Lines that are JSON say to which trace they belong. */
  readonly traced?: boolean;
  /** Takes the lines; left out: stderr. */
  readonly to?: NodeJS.WritableStream & DestinationStream;
}

/** Of a line for people: what happened, then whatever else is known of it. */
const MESSAGE = '{msg}{if method}: {method} {route} {status} in {ms} ms{end}{if reason}: {reason}{end}';
/** Said in the message, or known to who watches. */
const SAID = 'pid,hostname,role,method,route,status,ms,reason';

export async function createLog(options: LogOptions): Promise<Logger> {
  const { level, role, terminal, colors, traced = false, to } = options;
  const written = {
    level,
    base: { role },
    serializers: { err: loggedError, workflowId: loggedWorkflowId },
    ...(traced && !terminal ? { mixin: traceOfLine } : {}),
  };
  if (!terminal) return pino(written, to ?? pino.destination({ fd: 2, sync: false }));
  // Whoever has no terminal need not wait for it.
  const { default: pretty } = await import('pino-pretty');
  const lines = pretty({
    messageFormat: MESSAGE,
    ignore: SAID,
    translateTime: 'SYS:HH:MM:ss',
    singleLine: true,
    colorize: colors,
    destination: to ?? 2,
    sync: true,
  });
  return pino(written, lines);
}

/** As OpenTelemetry names them in logs that are not its own. */
function traceOfLine(): object {
  const here = currentTrace();
  return here === undefined ? {} : { trace_id: here.traceId, span_id: here.spanId };
}

/**
 * Says that a part of the process runs.
 * @returns says that it has stopped
 */
export function started(log: Logger, part: string, where: Readonly<Record<string, string>> = {}): () => void {
  log.info({ part, ...where }, `${part} started`);
  return () => log.info({ part }, `${part} stopped`);
}
