/** The demonstration's API client: two users, JSON, and a message for every error. */
import * as v from 'valibot';
import type { EshopCredentials } from '../src/app/accounts.ts';
import type { Role } from '../src/domain/role.ts';
import { UserError } from '../src/lib/user-error.ts';

/** The time limit for one answer, in milliseconds. */
const PATIENCE_MS = 30_000;
/** Tokens expire after an hour; a new one is fetched before that. In milliseconds. */
const TOKEN_AGE_MS = 45 * 60_000;

const answerSchema = v.object({
  message: v.string(),
  data: v.optional(v.unknown()),
  pagination: v.optional(v.object({ totalCount: v.number() })),
});
/** An answer of the API, as far as it is used here. */
export type Answer = v.InferOutput<typeof answerSchema>;
const tokenSchema = v.object({ token: v.string() });

/** One request. */
export interface ApiRequest {
  readonly by: Role;
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** With the version: `/v21/orders`. */
  readonly path: string;
  readonly body?: object;
}

/** A running Waybill. */
export interface Client {
  /** @throws UserError naming the refused request and the reason */
  send(request: ApiRequest, signal?: AbortSignal): Promise<Answer>;
}

/** The credentials. */
export type DemoCredentials = Omit<EshopCredentials, 'eshopId'>;

/** @param url of the instance, without a path */
export function createClient(url: string, credentials: DemoCredentials): Client {
  const base = url.replace(/\/+$/, '');
  const tokens = new Map<Role, { readonly token: Promise<string>; readonly until: number }>();

  async function call(request: Omit<ApiRequest, 'by'>, token: string | null, signal?: AbortSignal) {
    const { method, path, body } = request;
    const timeout = AbortSignal.timeout(PATIENCE_MS);
    const response = await fetch(`${base}${path}`, {
      method,
      headers: {
        'x-api-key': credentials.apiKey,
        ...(token === null ? {} : { authorization: `Bearer ${token}` }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      signal: signal === undefined ? timeout : AbortSignal.any([timeout, signal]),
    }).catch((error: unknown) => {
      signal?.throwIfAborted();
      throw new UserError(
        timeout.aborted
          ? `${method} ${path}: no answer after ${PATIENCE_MS / 1_000} s.`
          : `No Waybill instance is running at ${base}${causeOf(error)}: run waybill start, or name it with --url.`,
      );
    });
    const answer = v.safeParse(answerSchema, await response.json().catch(() => undefined));
    signal?.throwIfAborted();
    if (!answer.success)
      throw new UserError(`${base} is not a Waybill: ${method} ${path} did not return the expected JSON.`);
    if (!response.ok) throw new UserError(`${method} ${path}: ${response.status} ${answer.output.message}`);
    return answer.output;
  }

  /** Logs in once per user, however many requests need it. */
  function tokenOf(role: Role, signal?: AbortSignal): Promise<string> {
    const known = tokens.get(role);
    if (known !== undefined && Date.now() < known.until) return known.token;
    const { username, password } = role === 'shop' ? credentials : credentials.warehouse;
    const login = { method: 'POST', path: '/v21/users/login', body: { username, password } } as const;
    const token = call(login, null, signal).then(({ data }) => v.parse(tokenSchema, data).token);
    tokens.set(role, { token, until: Date.now() + TOKEN_AGE_MS });
    return token;
  }

  return {
    send: async (request, signal) => call(request, await tokenOf(request.by, signal), signal),
  };
}

/** The network error, in brackets. */
function causeOf(error: unknown): string {
  const cause = error instanceof Error ? error.cause : undefined;
  return cause instanceof Error && 'code' in cause ? ` (${String(cause.code)})` : '';
}
