/**
 * The e-shop of a round: it keeps sending its orders, each until it is answered, and records the accepted ones.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import pLimit from 'p-limit';
import * as v from 'valibot';
import { createEshopWithUsers } from '../src/app/accounts.ts';
import type { Pool } from '../src/db/connection/pool.ts';
import type { EventType } from '../src/domain/event-types.ts';
import type { Role } from '../src/domain/role.ts';
import type { Ordering } from '../src/domain/webhook-fields.ts';
import { ordinaryOrder } from '../test/support/harness/ordinary-order.ts';
import type { Logbook } from './logbook.ts';
import { deadlinePassed, type MachineWatch } from './machine.ts';

/** An e-shop that is logged in. */
export interface Shop {
  readonly eshopId: number;
  /** The address that mails go to. */
  readonly email: string;
  subscribe(url: string, type: EventType, ordering?: Ordering): Promise<number>;
  /** Pauses a webhook; repeated until answered. @returns when answered, and the pause's end, in ms since 1970 */
  pause(webhookId: number, ms: number): Promise<{ readonly from: number; readonly to: number }>;
  /** Ends its pause; repeated until answered. @returns when it was first asked for */
  resume(webhookId: number): Promise<number>;
  /** Sends an order until it is answered. */
  createOrder(eshopOrderId: string): Promise<void>;
  /** Changes the note of an order; repeated until answered. Repeating the same note changes nothing. */
  annotate(eshopOrderId: string, note: string): Promise<void>;
  /** Sends a request until it is done, if given under an `Idempotency-Key`. @returns null if it never was */
  once(by: Role, path: string, body: object, key?: string): Promise<Once | null>;
  /**
   * Sends orders at a steady pace, and changes the status of the first.
   * @param burst further orders at the same time, sent as fast as they are accepted
   * @param onSent called with the number accepted so far
   */
  sendOrders(count: number, burst: number, onSent: (accepted: number) => void): Promise<void>;
}

/** The answer to a request that is done once. */
export interface Once {
  readonly data?: unknown;
  /** Whether it was done before, and this is its stored response. */
  readonly replayed: boolean;
}

/** How long to wait for a response, and how long to repeat the same request, in milliseconds. */
const ANSWER_MS = 5_000;
const API_RETRY_TIMEOUT_MS = 60_000;
/** How long the set-up may take on a busy machine, in milliseconds. */
const SETTING_UP_MS = 60_000;
const API_RETRY_INTERVAL_MS = 200;
/** The number of clients that send the burst of orders. */
const RUSH_CLIENTS = 8;
/** The time between two orders, in milliseconds. */
const PACE_MS = 120;

const answerSchema = v.looseObject({ message: v.string(), data: v.optional(v.unknown()) });
const tokenSchema = v.object({ token: v.string() });
const idSchema = v.object({ id: v.number() });

/** Creates an e-shop with its own name and logs both its users in. */
export async function openShop(
  sql: Pool,
  apiUrl: string,
  name: string,
  logbook: Logbook,
  machine: MachineWatch,
): Promise<Shop> {
  const email = `${name}@shop.example`;
  const credentials = await createEshopWithUsers(sql, { name, email });

  async function send(
    method: string,
    path: string,
    token: string,
    body: object,
    { patienceMs = ANSWER_MS, key }: { readonly patienceMs?: number; readonly key?: string } = {},
  ) {
    const under = key === undefined ? {} : { 'idempotency-key': key };
    const headers = { ...under, 'x-api-key': credentials.apiKey, 'content-type': 'application/json' };
    const answer = await fetch(`${apiUrl}/v21${path}`, {
      method,
      headers: { ...headers, ...(token === '' ? {} : { authorization: `Bearer ${token}` }) },
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(patienceMs),
    });
    const replayed = answer.headers.get('idempotency-replayed') === 'true';
    return { status: answer.status, replayed, ...v.parse(answerSchema, await answer.json()) };
  }

  /** A request of the set-up, which no fault disturbs; but the API may still be recovering from the last round. */
  async function must(method: string, path: string, token: string, body: object): Promise<unknown> {
    const start = Date.now();
    let answer = await send(method, path, token, body, { patienceMs: SETTING_UP_MS });
    while (answer.status === 503 && !deadlinePassed(machine, start, SETTING_UP_MS)) {
      await sleep(API_RETRY_INTERVAL_MS);
      answer = await send(method, path, token, body, { patienceMs: SETTING_UP_MS });
    }
    const { status, message, data } = answer;
    if (status !== 200) throw new Error(`${method} ${path}: HTTP ${status} ${message}`);
    return data;
  }

  const logIn = async ({ username, password }: { username: string; password: string }) =>
    v.parse(tokenSchema, await must('POST', '/users/login', '', { username, password })).token;
  const tokens: Readonly<Record<Role, string>> = {
    shop: await logIn(credentials),
    warehouse: await logIn(credentials.warehouse),
  };
  await must('POST', '/products', tokens.shop, { sku: 'MUG-BLUE', name: 'Blue mug' });

  /** Repeats a request until its answer has an accepted status, as long as the obstacle may be temporary. */
  async function repeated(
    by: Role,
    [method, path]: readonly [string, string],
    body: object | (() => object),
    accepted: readonly number[],
    key?: string,
  ) {
    for (
      const start = Date.now();
      !deadlinePassed(machine, start, API_RETRY_TIMEOUT_MS);
      await sleep(API_RETRY_INTERVAL_MS)
    ) {
      const sent = typeof body === 'function' ? body() : body;
      const answer = await send(method, path, tokens[by], sent, key === undefined ? {} : { key }).catch(
        () => null,
      );
      if (answer === null) continue;
      const { status, message } = answer;
      if (accepted.includes(status)) return answer;
      // With a key, a 409 says that the request is still under way.
      const passes = status >= 500 || status === 429 || (key !== undefined && status === 409);
      if (!passes) throw new Error(`${method} ${path}: HTTP ${status} ${message}`);
    }
    logbook.complaints.push(`The API took no ${path} for ${API_RETRY_TIMEOUT_MS / 1000} s.`);
    return null;
  }

  /** Sends a change. If it was accepted without a response, the API answers the repetition with 409. */
  async function change(
    type: EventType,
    entityId: string,
    by: Role,
    method: string,
    path: string,
    body: object,
  ) {
    const answer = await repeated(by, [method, path], body, [200, 409]);
    if (answer !== null) logbook.accepted.push({ type, entityId, at: Date.now() });
  }

  /** @param body made again for each try */
  const steer = (path: string, body: () => object) => repeated('shop', ['PUT', path], body, [200]);
  const createOrder = (id: string) => change('CREATE_ORDER', id, 'shop', 'POST', '/orders', order(id));

  return {
    eshopId: credentials.eshopId,
    email,
    createOrder,
    once: (by, path, body, key) => repeated(by, ['POST', path], body, [200], key),
    annotate: (id, note) => change('UPDATE_ORDER', id, 'shop', 'PATCH', `/orders/${id}`, { note }),
    async pause(webhookId, ms) {
      let to = 0;
      await steer(`/webhooks/${webhookId}/pause`, () => {
        to = Date.now() + ms;
        return { until: new Date(to).toISOString() };
      });
      return { from: Date.now(), to };
    },
    async resume(webhookId) {
      const asked = Date.now();
      await steer(`/webhooks/${webhookId}/resume`, () => ({}));
      return asked;
    },
    async subscribe(url, webhookType, ordering = 'none') {
      const webhook = { url, webhookType, active: true, method: 'POST', payloadVersion: 'v21', ordering };
      return v.parse(idSchema, await must('POST', '/webhooks', tokens.shop, webhook)).id;
    },
    async sendOrders(count, burst, onSent) {
      const ids = Array.from({ length: burst }, (_, index) => `${name}-rush-${index}`);
      const rush = pLimit(RUSH_CLIENTS).map(ids, createOrder);
      // Awaited below.
      rush.catch(() => {});
      for (let index = 0; index < count; index += 1) {
        const id = `${name}-${index}`;
        await createOrder(id);
        if (index === 0) {
          const path = `/warehouse/orders/${id}/status`;
          await change('UPDATE_ORDER_STATUS', id, 'warehouse', 'PUT', path, { status: 'suspended' });
        }
        onSent(index + 1);
        await sleep(PACE_MS);
      }
      await rush;
    },
  };
}

/** An order that needs no stock. */
function order(eshopOrderId: string) {
  return {
    eshopOrderId,
    ...ordinaryOrder,
    orderProducts: [{ sku: 'MUG-BLUE', quantity: 1, unitPrice: '249.90', vatRate: 21 }],
  };
}
