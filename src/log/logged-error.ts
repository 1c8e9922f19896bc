/**
 * An error as logged, without its data: properties of a Postgres error hold the values of a row, and messages quote
 * them.
 */
import postgres from 'postgres';

/** How many causes of causes are logged. */
const DEPTH = 4;
/** Postgres's class of errors about values, whose messages quote them. */
const DATA_EXCEPTION = /^22/;

interface LoggedError {
  readonly type: string;
  readonly message: string;
  readonly code?: string;
  readonly stack?: string;
  readonly cause?: LoggedError;
  /** Of an `AggregateError`. */
  readonly errors?: readonly LoggedError[];
}

export function loggedError(error: unknown, depth = DEPTH): LoggedError {
  if (!(error instanceof Error))
    return { type: typeof error, message: 'something other than an error was thrown' };
  const { name: type, cause } = error;
  const message = messageOf(error);
  const code = 'code' in error && typeof error.code === 'string' ? { code: error.code } : {};
  const frames = error.stack?.split('\n').filter((line) => /^\s+at /.test(line)) ?? [];
  const deeper = (each: unknown) => loggedError(each, depth - 1);
  return {
    type,
    message,
    ...code,
    ...(frames.length === 0 ? {} : { stack: [`${type}: ${message}`, ...frames].join('\n') }),
    ...(depth > 0 && cause instanceof Error ? { cause: deeper(cause) } : {}),
    ...(depth > 0 && error instanceof AggregateError ? { errors: error.errors.map(deeper) } : {}),
  };
}

function messageOf(error: Error): string {
  if (error instanceof postgres.PostgresError && DATA_EXCEPTION.test(error.code)) {
    return `Postgres rejects a value (${error.code})`;
  }
  // Node quotes the text that it could not parse.
  if (error instanceof SyntaxError) return 'something could not be parsed';
  return error.message;
}
