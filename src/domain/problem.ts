/**
 * Error responses: thrown anywhere below the API, turned into responses in one place (docs/interface.md, C3).
 */
import { capital } from './text.ts';

type ProblemStatus = 400 | 401 | 403 | 404 | 405 | 409 | 411 | 413 | 415 | 422 | 429 | 500 | 503;

/** An error response: the HTTP status and a message for the client. Never carries internal details. */
export class Problem extends Error {
  override readonly name = 'Problem';
  readonly status: ProblemStatus;
  /** Response headers that belong to the error, such as `Allow` or `Retry-After`. */
  readonly headers: Readonly<Record<string, string>>;
  /** The fields that the message names, with their problems, for callers within the process; empty if none. */
  readonly problems: readonly FieldProblem[];

  constructor(
    status: ProblemStatus,
    message: string,
    headers: Readonly<Record<string, string>> = {},
    problems: readonly FieldProblem[] = [],
  ) {
    super(message);
    this.status = status;
    this.headers = headers;
    this.problems = problems;
  }
}

/** 400: failed validation, or something that the contract of the e-shop forbids. */
export const badRequest = (message: string): Problem => new Problem(400, message);

/** One problem of a body, path or query. */
export interface FieldProblem {
  /** Dotted path of the field, such as `orderProducts.0.sku`; empty for the whole. */
  readonly path: string;
  readonly message: string;
}

/** The maximum number of problems in one response. */
export const MAX_PROBLEMS = 50;
/** A list with this many problems is not checked further. */
export const ENOUGH_PROBLEMS = 2 * MAX_PROBLEMS;
/** The maximum length of a path, in UTF-16 units: a field's name can be as long as the body. */
const MAX_PATH = 200;

function messageOf({ path, message }: FieldProblem): string {
  const shown = path.length > MAX_PATH ? `${path.slice(0, MAX_PATH)}…` : path;
  return shown === '' ? message : `${shown}: ${message}`;
}

/** "path: problem; path: problem", up to {@link MAX_PROBLEMS} of them. */
export function problemsText(problems: readonly FieldProblem[]): string {
  const remaining = problems.length - MAX_PROBLEMS;
  const atLeast = problems.length >= ENOUGH_PROBLEMS ? 'at least ' : '';
  const more = remaining > 0 ? [`and ${atLeast}${remaining} more`] : [];
  return [...problems.slice(0, MAX_PROBLEMS).map(messageOf), ...more].join('; ');
}

/** 400 that names each problem with the path of its field. @param problems at least one */
export function invalid(problems: readonly FieldProblem[]): Problem {
  return new Problem(400, problemsText(problems), {}, problems);
}

/** 401, with the challenge that RFC 9110 requires. */
export function unauthorized(message: string): Problem {
  return new Problem(401, message, { 'www-authenticate': 'Bearer' });
}

/** 403: the user's role does not allow this. */
export const forbidden = (message: string): Problem => new Problem(403, message);

/** 404: no such record, or another e-shop's. */
export const notFound = (message: string): Problem => new Problem(404, message);

/**
 * 404 for a record that this e-shop does not have.
 * @param noun such as "order"
 */
export function recordNotFound(noun: string, id: string | number): Problem {
  return notFound(`${capital(noun)} ${id} does not exist.`);
}

/**
 * The record, if there is one.
 * @throws Problem 404 if there is none
 */
export function orNotFound<T>(noun: string, id: string | number, found: T | null): T {
  if (found === null) throw recordNotFound(noun, id);
  return found;
}

/** 409: the record exists already, or the table of states has no such transition. */
export const conflict = (message: string): Problem => new Problem(409, message);

/**
 * 429 with `Retry-After`.
 * @param retryAfterMs in milliseconds; sent in whole seconds, rounded up
 */
export function tooManyRequests(message: string, retryAfterMs: number): Problem {
  return new Problem(429, message, { 'retry-after': String(Math.max(1, Math.ceil(retryAfterMs / 1000))) });
}
