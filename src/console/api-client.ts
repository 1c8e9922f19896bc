/** The API, called within the process for the person signed in: all checks, budgets and responses as for a client. */
import type { Hono } from 'hono';
import * as v from 'valibot';
import type { ApiEnv, SignedIn } from '../api/deps.ts';
import { type FieldProblem, Problem } from '../domain/problem.ts';

/** Why the API refused a request: problems of fields, or one sentence. */
export type Rejection = string | readonly FieldProblem[];

/** Why the API refused, for the page that asked. @throws the error if it is not a refusal, or a 404 */
export function rejectionOf(error: unknown): Rejection {
  if (error instanceof Problem && error.status !== 404)
    return error.problems.length > 0 ? error.problems : error.message;
  throw error;
}

/** The result of a search, or why the API refused its filters. @throws any other error */
export async function unlessRefused<Found>(asked: Promise<Found>) {
  try {
    return { found: await asked, refused: undefined };
  } catch (error) {
    if (!(error instanceof Problem) || error.status !== 400) throw error;
    return { found: null, refused: rejectionOf(error) };
  }
}

const Failure = v.object({ message: v.string() });
const Answer = v.object({ message: v.string(), data: v.unknown() });

/** Empty and undefined values are left out. */
export type Query = Readonly<Record<string, string | undefined>>;

/** The values that are not empty. */
export function nonEmpty(query: Query): Record<string, string> {
  const entries = Object.entries(query).flatMap(([name, value]) =>
    value === undefined || value === '' ? [] : [[name, value] as const],
  );
  return Object.fromEntries(entries);
}

export function queryText(query: Query): string {
  const text = new URLSearchParams(nonEmpty(query)).toString();
  return text === '' ? '' : `?${text}`;
}

export const piece = encodeURIComponent;

/** The calls of the console. All throw the `Problem` that the API answers with. */
export function apiClient(api: Hono<ApiEnv>, signedIn: SignedIn) {
  async function ask(path: string, init: RequestInit, within: ApiEnv['Bindings'] = {}): Promise<unknown> {
    const problems: Problem[] = [];
    const refused = (problem: Problem) => void problems.push(problem);
    const response = await api.request(path, init, { ...within, signedIn, refused });
    const answer: unknown = await response.json();
    if (response.ok) return answer;
    const status = response.status === 503 ? 503 : 500;
    throw problems[0] ?? new Problem(status, v.parse(Failure, answer).message);
  }
  return {
    /** @param schema of the answer's `data` */
    async get<Schema extends v.GenericSchema>(schema: Schema, path: string, query: Query = {}) {
      return v.parse(schema, v.parse(Answer, await ask(`${path}${queryText(query)}`, {})).data);
    },
    /** @param schema of the whole answer: `data` and its siblings */
    async list<Schema extends v.GenericSchema>(schema: Schema, path: string, query: Query = {}) {
      return v.parse(schema, await ask(`${path}${queryText(query)}`, {}));
    },
    /** @param schema of the answer's `data` */
    async send<Schema extends v.GenericSchema>(
      schema: Schema,
      method: 'POST' | 'PUT' | 'PATCH' | 'DELETE',
      path: string,
      body?: object,
      within?: Pick<ApiEnv['Bindings'], 'keepsActive'>,
    ) {
      const json = { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } };
      const answer = await ask(path, { method, ...(body === undefined ? {} : json) }, within);
      const { message, data } = v.parse(Answer, answer);
      return { message, data: v.parse(schema, data) };
    },
  };
}

export type ApiClient = ReturnType<typeof apiClient>;
