/**
 * The part of the warehouse's API that a receiver needs: the list of deliveries, their payloads, and the records that GET
 * deliveries name.
 */
import { type Delivery, isKind } from './delivery.ts';
import { kinds } from './kinds.ts';
import type { PayloadVersion } from './payloads.generated.ts';

/** Before the oldest delivery. */
export const BEGINNING = '00000000-0000-0000-0000-000000000000';

/** The time limit for one answer, in milliseconds. */
const PATIENCE_MS = 30_000;
/** How often a request is sent while the answer is 429 or 503, and the longest wait in between, in seconds. */
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

/** States of an ended delivery. */
const ended = ['delivered', 'failed', 'expired', 'superseded', 'canceled'] as const;
/** States of an open delivery. */
const open = ['pending', 'retrying', 'held'] as const;

/** A delivery as the API lists it. */
export interface ListedDelivery {
  readonly id: string;
  readonly webhookId: number;
  readonly eventId: string;
  readonly webhookType: string;
  readonly entityId: string;
  /** The place of its event among those of the record. */
  readonly sequence: number;
  /** Who made the change, and its fields, joined by commas; absent from a sender that does not know them. */
  readonly origin?: string | null;
  readonly changed?: string | null;
  readonly state: (typeof ended)[number] | (typeof open)[number];
}

/** Whether the sender may still attempt it by itself. */
export function isOpen({ state }: Pick<ListedDelivery, 'state'>): boolean {
  return open.some((each) => each === state);
}

/** Deliveries after a cursor, oldest first. */
export interface DeliveryPage {
  readonly deliveries: readonly ListedDelivery[];
  /** The next `after`, and whether there is more to read now. */
  readonly cursor: { readonly after: string; readonly more: boolean };
}

/** The payload of a delivery. */
export interface SentPayload {
  readonly method: 'POST' | 'GET';
  /** JSON text; null on GET. */
  readonly body: string | null;
  /** True for a test event: its record does not exist. */
  readonly test?: boolean | undefined;
}

/** The API, logged in. Every method throws `ApiRefused` if the request is refused. */
export interface WaybillApi {
  /** @param after the identifier up to which everything has been read */
  deliveries(after: string, filter?: { readonly since?: Date | undefined }): Promise<DeliveryPage>;
  /** One of them; null when it no longer exists. */
  delivery(deliveryId: string): Promise<ListedDelivery | null>;
  /** The payload of a delivery; null when it no longer exists. */
  payload(deliveryId: string): Promise<SentPayload | null>;
  /** The record that a delivery names, as it is now. For `receiver({ read: api.read })`. */
  read(delivery: Pick<Delivery, 'kind' | 'entityId'>): Promise<object>;
}

/** A refusal by the API, with its message. */
export class ApiRefused extends Error {
  override readonly name = 'ApiRefused';
  readonly status: number;

  constructor(what: string, status: number, message: string) {
    super(`${what}: ${status} ${message}`);
    this.status = status;
  }
}

/** The envelope of an answer, as far as it is used here. */
interface Envelope<Data> {
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

/**
 * The API for this user. Logs in when needed, and waits when told to.
 *
 * @example const api = waybill({ url: 'https://warehouse.example', apiKey, username, password });
 * @throws TypeError naming the first option that is empty
 */
export function waybill(options: ApiOptions): WaybillApi {
  // Otherwise it would show later, as an invalid URL or a bare 400 or 401.
  for (const name of ['url', 'apiKey', 'username', 'password'] as const) {
    if (!options[name]) throw new TypeError(`${name} is empty: is the variable it comes from set?`);
  }
  const { apiKey, username, password, payloadVersion = 'v2' } = options;
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

  /** @throws ApiRefused for anything but 2xx */
  async function envelope<Answer extends Envelope<unknown>>(what: string, response: Response) {
    const parsed = parseJson<Answer>(await response.text());
    if (!response.ok || parsed === null)
      throw new ApiRefused(what, response.status, parsed?.message ?? 'is not an answer of a Waybill');
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

  /** @returns null for a 404 */
  async function found<Answer>(asked: Promise<Answer>): Promise<Answer | null> {
    try {
      return await asked;
    } catch (error) {
      if (error instanceof ApiRefused && error.status === 404) return null;
      throw error;
    }
  }

  return {
    async deliveries(after, { since } = {}) {
      const query = new URLSearchParams({ after, items: '100' });
      if (since !== undefined) query.set('since', since.toISOString());
      const answer = await get<readonly ListedDelivery[], Pick<DeliveryPage, 'cursor'>>(
        `/v21/deliveries?${query}`,
      );
      return { deliveries: answer.data, cursor: answer.cursor };
    },
    async delivery(deliveryId) {
      const path = `/v21/deliveries/${encodeURIComponent(deliveryId)}`;
      return (await found(get<ListedDelivery>(path)))?.data ?? null;
    },
    async payload(deliveryId) {
      const path = `/v21/deliveries/${encodeURIComponent(deliveryId)}/payload`;
      const answer = await found(get<object | null, { readonly request: Omit<SentPayload, 'body'> }>(path));
      if (answer === null) return null;
      const { method, test } = answer.request;
      return { method, body: answer.data === null ? null : JSON.stringify(answer.data), test };
    },
    async read({ kind, entityId }) {
      if (!isKind(kind) || entityId === null) throw new TypeError(`${kind} is not a known kind of event.`);
      const path = `/${payloadVersion}${kinds[kind].path}/${encodeURIComponent(entityId)}`;
      return (await get<object>(path)).data;
    },
  };
}
