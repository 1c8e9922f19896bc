/** A session with the warehouse's API: logs in when needed, and waits when the API asks for it. */
import type { PayloadVersion } from './payloads.generated.ts';

/** The time limit for one answer, in milliseconds. */
const PATIENCE_MS = 30_000;
/** How often a request is sent if the answer is 429 or 503, and the longest wait in between, in seconds. */
const MAX_TRIES = 5;
const MAX_WAIT_S = 60;

/** The address of the API, and the credentials. */
export interface ApiOptions {
  /** The address of the warehouse, with or without `/v21`. */
  readonly url: string;
  readonly apiKey: string;
  readonly username: string;
  readonly password: string;
  /** The payload version in which `read` gets records (default: `v2`, as for webhooks). */
  readonly payloadVersion?: PayloadVersion;
  /** Default: the runtime's. */
  readonly fetch?: typeof fetch;
}

/** An error response of the API, with its message. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly status: number;

  constructor(what: string, status: number, message: string) {
    super(`${what}: ${status} ${message}`);
    this.status = status;
  }
}

/** The parts of an answer's envelope that are used here. */
export interface Envelope<Data> {
  readonly message: string;
  readonly data: Data;
}

/** @returns null if it is not JSON, such as an error page of a proxy */
function parseJson<Answer>(text: string): Answer | null {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

const sleep = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

/** Reads from the API. */
export interface Session {
  /** @throws ApiError for anything but 2xx */
  get<Data, Beside = unknown>(path: string): Promise<Envelope<Data> & Beside>;
}

/** @throws TypeError naming the first option that is empty */
export function openSession(options: ApiOptions): Session {
  // Otherwise the mistake would show later, as an invalid URL or a bare 400 or 401.
  for (const name of ['url', 'apiKey', 'username', 'password'] as const) {
    if (!options[name]) throw new TypeError(`${name} is empty: is the variable it comes from set?`);
  }
  const { apiKey, username, password } = options;
  const base = options.url.replace(/\/+$/, '').replace(/\/v21$/, '');
  const send = options.fetch ?? fetch;
  let token: Promise<string> | null = null;

  async function request(path: string, init: RequestInit & { headers?: Record<string, string> } = {}) {
    for (let tries = 1; ; tries += 1) {
      const response = await send(`${base}${path}`, {
        ...init,
        headers: { 'x-api-key': apiKey, ...init.headers },
        signal: AbortSignal.timeout(PATIENCE_MS),
      });
      if ((response.status !== 429 && response.status !== 503) || tries === MAX_TRIES) return response;
      await response.body?.cancel();
      const asked = Number(response.headers.get('retry-after') ?? 1);
      await sleep(1_000 * Math.min(Number.isFinite(asked) ? asked : 1, MAX_WAIT_S));
    }
  }

  /** @throws ApiError for anything but 2xx */
  async function envelope<Answer extends Envelope<unknown>>(what: string, response: Response) {
    const parsed = parseJson<Answer>(await response.text());
    if (!response.ok || parsed === null)
      throw new ApiError(what, response.status, parsed?.message ?? 'is not a response from Waybill');
    return parsed;
  }

  async function login(): Promise<string> {
    const path = '/v21/users/login';
    const body = JSON.stringify({ username, password });
    const headers = { 'content-type': 'application/json' };
    const response = await request(path, { method: 'POST', headers, body });
    return (await envelope<Envelope<{ readonly token: string }>>(`POST ${path}`, response)).data.token;
  }

  async function get<Data, Beside = unknown>(path: string): Promise<Envelope<Data> & Beside> {
    for (let tries = 1; ; tries += 1) {
      token ??= login();
      const used = token;
      const authorization = `Bearer ${await used.catch((error: unknown) => {
        token = null;
        throw error;
      })}`;
      const response = await request(path, { headers: { authorization } });
      // A token expires after an hour.
      if (response.status === 401 && tries === 1) {
        await response.body?.cancel();
        if (token === used) token = null;
        continue;
      }
      return await envelope<Envelope<Data> & Beside>(`GET ${path}`, response);
    }
  }

  return { get };
}
