/** The whole of a demonstration: webhooks, the day, the deliveries, the counts; and nothing left behind. */
import { randomBytes } from 'node:crypto';
import * as v from 'valibot';
import { shipperSchema } from '../src/domain/order/shipper-services.ts';
import { counted } from '../src/domain/words.ts';
import type { Client } from './client.ts';
import { planDay } from './day.ts';
import type { Progress } from './progress.ts';
import { randomFrom } from './random.ts';
import { type DemoReceiver, startReceiver } from './receiver.ts';
import { playDay } from './runner.ts';
import { firedBy, type Step, stepsOf } from './steps.ts';
import { deliveredByLog, openByLog, type Subscription, subscribe, unsubscribe } from './subscriptions.ts';
import { countsOf, missing, type Summary } from './summary.ts';
import { type Patience, untilDelivered, whyMissing } from './waiting.ts';

/** How long nothing may come before the rest is given up. */
const PATIENCE: Patience = { firstMs: 15_000, nextMs: 60_000 };
/** How often deliveries are counted, in milliseconds: at our own receiver, and by asking the delivery log. */
const LOOK_EVERY_MS = 100;
const ASK_EVERY_MS = 1_000;

/** What the day is to be. */
export interface DemoOptions {
  readonly orders: number;
  /** Requests per second. */
  readonly rate: number;
  readonly seed?: string | undefined;
  /** Deliveries go to a receiver of our own. */
  readonly receive?: true | undefined;
  /** Deliveries go to a receiver below this URL. */
  readonly webhooks?: string | undefined;
  readonly keepWebhooks?: true | undefined;
}

/** Who listens. */
export interface Surroundings {
  /** Ends the day when it is aborted. */
  readonly signal: AbortSignal;
  readonly progress: Progress;
  /** Told a sentence when something of the demonstration's own is left behind. */
  readonly warn: (sentence: string) => void;
}

/** What a demonstration came to. */
export interface DemoResult {
  readonly summary: Summary;
  /** A sentence when not everything was delivered. */
  readonly problem: string | null;
}

/**
 * Plays a day. Its webhooks and its receiver are gone when this ends, however it ends.
 * @throws UserError saying what was refused; the signal's reason when it was aborted
 */
export async function runDemo(
  client: Client,
  options: DemoOptions,
  { signal, progress, warn }: Surroundings,
): Promise<DemoResult> {
  const receiver = options.receive ? await startReceiver() : null;
  const subscriptions: Subscription[] = [];
  try {
    const base = receiver?.url ?? options.webhooks;
    if (base !== undefined) {
      progress.show(0, 1, 'Webhooks are registered');
      const made = (subscription: Subscription) => {
        subscriptions.push(subscription);
        receiver?.trust(subscription.kind, subscription.secret);
      };
      await subscribe(client, base, made, signal);
    }
    return await played(client, options, { signal, progress, receiver, subscriptions });
  } finally {
    progress.stop();
    if (!options.keepWebhooks) {
      const { left, reason } = await unsubscribe(client, subscriptions);
      // Not thrown: it would hide what ended the day.
      if (left > 0) warn(`${counted(left, 'webhook')} of the demonstration could not be removed: ${reason}`);
    }
    await receiver?.close();
  }
}

interface Stage {
  readonly signal: AbortSignal;
  readonly progress: Progress;
  readonly receiver: DemoReceiver | null;
  readonly subscriptions: readonly Subscription[];
}

async function played(client: Client, options: DemoOptions, stage: Stage): Promise<DemoResult> {
  const { signal, progress, receiver, subscriptions } = stage;
  const seed = options.seed ?? randomBytes(3).toString('hex');
  const prefix = Date.now().toString(36).toUpperCase();
  const shippers = await client.send(
    { by: 'shop', method: 'GET', path: '/v2/shipper-service-codes' },
    signal,
  );
  const phases = planDay(
    { prefix, random: randomFrom(seed), shippers: v.parse(v.array(shipperSchema), shippers.data) },
    options.orders,
  );

  const count = async () => receiver?.delivered() ?? (await deliveredByLog(client, subscriptions, signal));
  const watched = subscriptions.length > 0;

  const total = stepsOf(phases).length;
  const done: Step[] = [];
  const began = performance.now();
  const requests = await playDay(client, phases, {
    rate: options.rate,
    signal,
    onStep(phase, step) {
      done.push(step);
      progress.show(done.length, total, phase.title);
    },
    ...(watched ? { come: async () => sumOf(await count()) } : {}),
  });
  const seconds = Math.round((performance.now() - began) / 100) / 10;

  const fired = firedBy(done);
  const expected = sumOf(fired);
  const { delivered, open } = watched
    ? await untilDelivered(fired, count, {
        open: () => openByLog(client, subscriptions, signal),
        patience: PATIENCE,
        everyMs: receiver === null ? ASK_EVERY_MS : LOOK_EVERY_MS,
        signal,
        onCount(come, waiting) {
          const backlog = waiting === 0 ? '' : `; ${waiting} wait for their first attempt`;
          progress.show(come, expected, `Deliveries arrive${backlog}`);
        },
      })
    : { delivered: null, open: null };
  const kinds = countsOf(fired, delivered);
  const came = delivered === null ? 0 : sumOf(delivered);
  return {
    summary: { prefix, seed, requests, seconds, kinds, badSignatures: receiver?.refused() ?? null },
    problem: open === null ? null : whyMissing(open, { missing: missing(kinds), came, patience: PATIENCE }),
  };
}

function sumOf(counts: ReadonlyMap<unknown, number>): number {
  return [...counts.values()].reduce((sum, each) => sum + each, 0);
}
