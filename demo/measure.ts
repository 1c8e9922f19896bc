/**
 * Measures an installation through its API and its own databases: changes a few products at a fixed pace, and
 * follows each change until it has arrived at a receiver here.
 */
import { randomBytes } from 'node:crypto';
import { createServer } from 'node:http';
import * as v from 'valibot';
import { listen as listenAt } from '../src/lib/listen.ts';
import { delay, pollUntil } from '../src/lib/poll-until.ts';
import { UserError } from '../src/lib/user-error.ts';
import type { Client } from './client.ts';

/** Options of a measurement. */
export interface MeasureOptions {
  /** Changes per second. */
  readonly rate: number;
  readonly seconds: number;
  /** How many seconds nothing may arrive before it stops waiting for the rest. */
  readonly patience: number;
  /** Where the receiver listens. */
  readonly host: string;
  /** 0: any free one. */
  readonly port: number;
  /** The URL at which workers reach it; default: host and port. */
  readonly receiverUrl?: string | undefined;
}

/** Milliseconds. */
export interface Percentiles {
  readonly p50: number;
  readonly p95: number;
  readonly p99: number;
  readonly max: number;
}

/** The results. */
export interface Measured {
  readonly requests: number;
  /** The number of requests not answered with 200, and the first reason. */
  readonly refused: number;
  readonly reason: string | null;
  readonly delivered: number;
  /** From the first request to the last arrival. */
  readonly deliveriesPerSecond: number;
  /** From a request to its answer, and to the first byte of its delivery; null if there was none. */
  readonly answers: Percentiles | null;
  readonly deliveries: Percentiles | null;
}

/** The number of products changed in turn; they stay after the measurement. */
const PRODUCTS = 20;
/** Changes made before the measurement, to warm up connections, compilers and caches. */
const WARM_UP = 20;
const LOOK_EVERY_MS = 50;
const createdSchema = v.object({ id: v.number() });

/**
 * Measures, and removes its webhook at the end.
 * @param show receives how many have arrived, of how many
 * @throws UserError if nothing can be measured; the signal's reason when it was aborted
 */
export async function measure(
  client: Client,
  options: MeasureOptions,
  { signal, show }: { readonly signal: AbortSignal; readonly show: (done: number, total: number) => void },
): Promise<Measured> {
  const run = randomBytes(4).toString('hex');
  const receiver = await listen(run, options);
  let webhookId: number | undefined;
  try {
    const sku = (index: number) => `WAYBILL-MEASURE-${1 + (Math.abs(index) % PRODUCTS)}`;
    for (let index = 0; index < PRODUCTS; index += 1)
      await client
        .send(
          { by: 'shop', method: 'PUT', path: `/v21/products/${sku(index)}`, body: { name: 'Measured' } },
          signal,
        )
        .catch(async (error: unknown) => {
          // The first measurement: there is nothing to replace yet.
          if (!(error instanceof UserError)) throw error;
          const body = { sku: sku(index), name: 'Measured' };
          await client.send({ by: 'shop', method: 'POST', path: '/v21/products', body }, signal);
        });
    const { data } = await client.send({
      by: 'shop',
      method: 'POST',
      path: '/v21/webhooks',
      body: {
        url: options.receiverUrl ?? receiver.url,
        webhookType: 'UPDATE_PRODUCT',
        active: true,
        method: 'POST',
        description: 'made by waybill measure',
      },
    });
    webhookId = v.parse(createdSchema, data).id;
    const change = (index: number) =>
      client.send(
        {
          by: 'shop',
          method: 'PATCH',
          path: `/v21/products/${sku(index)}`,
          body: { note: `${run} ${index}` },
        },
        signal,
      );

    const arrived = (count: number) =>
      pollUntil(
        () => receiver.arrivals.size,
        (came) => came >= count,
        { signal, everyMs: LOOK_EVERY_MS, patienceMs: options.patience * 1_000 },
      );
    for (let index = 0; index < WARM_UP; index += 1) await change(-1 - index);
    if ((await arrived(WARM_UP)) === 0)
      throw new UserError(
        `No delivery reached ${options.receiverUrl ?? receiver.url}: are workers running, may they reach it (DELIVERY_ALLOW_CIDRS), and is it this machine?`,
      );
    receiver.arrivals.clear();

    const total = Math.max(1, Math.round(options.rate * options.seconds));
    const asked: number[] = [];
    const answers: number[] = [];
    const failures: string[] = [];
    const sent: Promise<void>[] = [];
    const start = performance.now();
    for (let index = 0; index < total; index += 1) {
      await delay(Math.max(0, start + (index * 1_000) / options.rate - performance.now()), signal);
      const at = performance.now();
      asked.push(at);
      sent.push(
        change(index).then(
          () => void answers.push(performance.now() - at),
          (error: unknown) => void failures.push(error instanceof Error ? error.message : String(error)),
        ),
      );
      show(receiver.arrivals.size, total);
    }
    await Promise.all(sent);
    signal.throwIfAborted();
    await arrived(total - failures.length);
    const took = [...receiver.arrivals].map(([index, at]) => at - (asked[index] ?? Number.NaN));
    const last = Math.max(...receiver.arrivals.values());
    return {
      requests: total,
      refused: failures.length,
      reason: failures[0] ?? null,
      delivered: took.length,
      deliveriesPerSecond: took.length === 0 ? 0 : (took.length * 1_000) / (last - start),
      answers: percentiles(answers),
      deliveries: percentiles(took),
    };
  } finally {
    if (webhookId !== undefined)
      await client.send({ by: 'shop', method: 'DELETE', path: `/v21/webhooks/${webhookId}` });
    await receiver.close();
  }
}

/** Accepts every delivery, and records when the head of its first request arrived, by the number in its note. */
async function listen(run: string, { host, port }: MeasureOptions) {
  const arrivals = new Map<number, number>();
  const note = new RegExp(`"${run} (-?\\d+)"`);
  const server = createServer((request, response) => {
    const at = performance.now();
    let body = '';
    request.setEncoding('utf8').on('data', (text: string) => {
      body += text;
    });
    request.once('end', () => {
      response.end();
      const [, index] = note.exec(body) ?? [];
      if (index !== undefined && !arrivals.has(Number(index))) arrivals.set(Number(index), at);
    });
  });
  const { port: taken, close } = await listenAt(server, port, host).catch((error: unknown) => {
    throw new UserError(
      `Nothing can listen at ${host}:${port}: ${error instanceof Error ? error.message : error}`,
    );
  });
  const shownHost = host.includes(':') ? `[${host}]` : host;
  return { url: `http://${shownHost}:${taken}/`, arrivals, close };
}

/** By nearest rank; null for an empty list. */
export function percentiles(values: readonly number[]): Percentiles | null {
  const sorted = [...values].sort((a, b) => a - b);
  if (sorted.length === 0) return null;
  const at = (percent: number) => sorted[Math.ceil((percent / 100) * sorted.length) - 1] ?? Number.NaN;
  return { p50: at(50), p95: at(95), p99: at(99), max: at(100) };
}
