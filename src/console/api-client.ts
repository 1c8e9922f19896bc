/** The API, called within the process for the person signed in: all checks, budgets and responses as for a client. */
import type { Hono } from 'hono';
import * as v from 'valibot';
import type { ApiEnv, SignedIn } from '../api/deps.ts';
import type { FieldProblem, Problem, ProblemStatus } from '../domain/problem.ts';
import type { Rejection } from './problems.ts';

const STATUSES = [400, 401, 403, 404, 405, 409, 411, 413, 415, 429, 503] as const satisfies ProblemStatus[];
type ErrorStatus = (typeof STATUSES)[number] | 500;

/** A refusal by the API, with its sentence, and the problems of fields that it consists of, if any. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly status: ErrorStatus;
  readonly problems: readonly FieldProblem[];

  constructor(status: ErrorStatus, message: string, problems: readonly FieldProblem[]) {
    super(message);
    this.status = status;
    this.problems = problems;
  }
}

/** Why the API refused, for the page that asked. @throws the error if it is no refusal, or 404: nothing to show */
export function rejectionOf(error: unknown): Rejection {
  if (error instanceof ApiError && error.status !== 404)
    return error.problems.length > 0 ? error.problems : error.message;
  throw error;
}

const ErrorBody = v.object({ message: v.string() });
const Answer = v.object({ message: v.string(), data: v.unknown() });

/** The calls of the console. All throw {@link ApiError}. */
export interface ApiClient {
  /** @param schema of the answer's `data` */
  get<Schema extends v.GenericSchema>(
    schema: Schema,
    path: string,
    query?: Query,
  ): Promise<v.InferOutput<Schema>>;
  /** @param schema of the whole answer: `data` and its siblings */
  list<Schema extends v.GenericSchema>(
    schema: Schema,
    path: string,
    query?: Query,
  ): Promise<v.InferOutput<Schema>>;
  /** @param schema of the answer's `data` */
  send<Schema extends v.GenericSchema>(
    schema: Schema,
    method: 'POST' | 'PUT' | 'PATCH' | 'DELETE',
    path: string,
    body?: object,
    within?: Pick<ApiEnv['Bindings'], 'keepsActive'>,
  ): Promise<{ readonly message: string; readonly data: v.InferOutput<Schema> }>;
}

/** Empty and undefined values are left out. */
export type Query = Readonly<Record<string, string | undefined>>;

/** The values that are not empty. */
export function given(query: Query): Record<string, string> {
  const entries = Object.entries(query).flatMap(([name, value]) =>
    value === undefined || value === '' ? [] : [[name, value] as const],
  );
  return Object.fromEntries(entries);
}

export function queryText(query: Query): string {
  const text = new URLSearchParams(given(query)).toString();
  return text === '' ? '' : `?${text}`;
}

export const piece = encodeURIComponent;

export function apiClient(api: Hono<ApiEnv>, signedIn: SignedIn): ApiClient {
  async function ask(path: string, init: RequestInit, within: ApiEnv['Bindings'] = {}): Promise<unknown> {
    let problems: readonly FieldProblem[] = [];
    const refused = (problem: Problem) => {
      problems = problem.problems;
    };
    const response = await api.request(path, init, { ...within, signedIn, refused });
    const answer: unknown = await response.json();
    if (response.ok) return answer;
    const body = v.safeParse(ErrorBody, answer);
    const status = STATUSES.find((each) => each === response.status) ?? 500;
    throw new ApiError(
      status,
      body.success ? body.output.message : 'The API rejected the request.',
      problems,
    );
  }
  return {
    get: async (schema, path, query = {}) =>
      v.parse(schema, v.parse(Answer, await ask(`${path}${queryText(query)}`, {})).data),
    list: async (schema, path, query = {}) => v.parse(schema, await ask(`${path}${queryText(query)}`, {})),
    send: async (schema, method, path, body, within) => {
      const json = { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } };
      const answer = await ask(path, { method, ...(body === undefined ? {} : json) }, within);
      const { message, data } = v.parse(Answer, answer);
      return { message, data: v.parse(schema, data) };
    },
  };
}
