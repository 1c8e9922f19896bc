/**
 * A complete demonstration: webhooks, the day, the deliveries, the counts. With its own receiver it leaves its
 * webhooks to look at, inactive; otherwise it leaves nothing.
 */
import { randomBytes } from 'node:crypto';
import * as v from 'valibot';
import { eventTypeNames } from '../src/domain/event-types.ts';
import { shipperSchema } from '../src/domain/shipper-services.ts';
import { counted } from '../src/domain/text.ts';
import type { Progress } from '../src/lib/progress.ts';
import type { Client } from './client.ts';
import { planDay } from './day.ts';
import { drop, giveUpGone, holdWaiting, recoverMissed, resultsOf, waitForRecovered } from './finish.ts';
import { randomFrom } from './random.ts';
import { type DemoReceiver, startReceiver } from './receiver.ts';
import { playDay } from './runner.ts';
import type { SceneResult } from './scene-results.ts';
import { scenes } from './scenes.ts';
import { firedBy, type Step, stepsOf } from './steps.ts';
import {
  countActive,
  deliveredByLog,
  findLeftovers,
  openByLog,
  type SceneSubscription,
  type Subscription,
  subscribe,
  subscribeScenes,
  unsubscribe,
} from './subscriptions.ts';
import { countsOf, missing, type Summary } from './summary.ts';
import { type Patience, untilDelivered, whyMissing } from './waiting.ts';

/** How long nothing may arrive before it stops waiting for the rest. */
const PATIENCE: Patience = { firstMs: 15_000, nextMs: 60_000 };
/** How often deliveries are counted, in milliseconds: at our own receiver, and in the delivery log. */
const LOOK_EVERY_MS = 100;
const ASK_EVERY_MS = 1_000;

/** Options of the day. */
export interface DemoOptions {
  readonly orders: number;
  /** Requests per second. */
  readonly rate: number;
  readonly seed?: string | undefined;
  /** Deliveries go to our own receiver. */
  readonly receive: boolean;
  /** Deliveries go to a receiver below this URL. */
  readonly webhooks?: string | undefined;
  readonly keepWebhooks: boolean;
}

/** The caller's signal and output. */
export interface DemoEnvironment {
  /** Ends the day when it is aborted. */
  readonly signal: AbortSignal;
  readonly progress: Progress;
  /** Called with a sentence if something of the demonstration is left behind. */
  readonly warn: (message: string) => void;
}

/** The result of a demonstration. */
export interface DemoResult {
  readonly summary: Summary;
  /** The e-shop's own active webhooks, which got the events as well; 0 with a receiver of one's own. */
  readonly otherWebhooks: number;
  /** A sentence if not everything was delivered. */
  readonly problem: string | null;
}

/**
 * Plays a day. Its receiver is always closed at the end, and its webhooks are removed, unless `keepWebhooks` is set
 * or everything went well with our own receiver: then they stay, inactive, until the next such day or {@link
 * cleanDemo}.
 * @throws UserError with the API's error; the signal's reason when it was aborted
 */
export async function runDemo(
  client: Client,
  options: DemoOptions,
  { signal, progress, warn }: DemoEnvironment,
): Promise<DemoResult> {
  const receiver = options.receive ? await startReceiver() : null;
  const subscriptions: Subscription[] = [];
  const troubled: SceneSubscription[] = [];
  let keep = options.keepWebhooks;
  try {
    const base = receiver?.url ?? options.webhooks;
    if (base !== undefined) {
      progress.show(0, 1, 'Webhooks are registered');
      if (receiver !== null) await remove(client, await findLeftovers(client, 'inactive', signal), warn);
      const subscription = await subscribe(client, base, signal);
      subscriptions.push(subscription);
      receiver?.trust(subscription.id, subscription.secret);
      if (receiver !== null) {
        const madeScene = (subscription: SceneSubscription) => {
          troubled.push(subscription);
          receiver.trust(subscription.id, subscription.secret, subscription.scene.conduct);
        };
        await subscribeScenes(client, base, scenes, { made: madeScene, signal });
      }
    }
    const result = await played(client, options, { signal, progress, receiver, subscriptions, troubled });
    if (receiver !== null && result.problem === null) keep = true;
    return result;
  } finally {
    progress.stop();
    if (!keep) await remove(client, [...subscriptions, ...troubled], warn);
    await receiver?.close();
  }
}

/**
 * Removes the webhooks of all demonstrations, with their deliveries. Records are never deleted.
 * @returns how many there were
 */
export async function cleanDemo(
  client: Client,
  { signal, warn }: Pick<DemoEnvironment, 'signal' | 'warn'>,
): Promise<number> {
  const found = await findLeftovers(client, 'all', signal);
  return found.length - (await remove(client, found, warn));
}

/** @returns how many are left */
async function remove(
  client: Client,
  webhooks: readonly Pick<Subscription, 'id'>[],
  warn: (message: string) => void,
): Promise<number> {
  const { left, reason } = await unsubscribe(client, webhooks);
  // Not thrown: it would hide what ended the day.
  if (left > 0) warn(`${counted(left, 'webhook')} of the demonstration could not be removed: ${reason}`);
  return left;
}

interface Stage {
  readonly signal: AbortSignal;
  readonly progress: Progress;
  readonly receiver: DemoReceiver | null;
  /** For all kinds: its deliveries are counted. */
  readonly subscriptions: readonly Subscription[];
  /** One per scene. */
  readonly troubled: readonly SceneSubscription[];
}

async function played(client: Client, options: DemoOptions, stage: Stage): Promise<DemoResult> {
  const { signal, progress, receiver, subscriptions, troubled } = stage;
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

  const count = async () =>
    receiver === null
      ? await deliveredByLog(client, subscriptions, signal)
      : new Map(
          eventTypeNames.map((kind) => [
            kind,
            subscriptions.reduce((sum, { id }) => sum + receiver.delivered(id, kind), 0),
          ]),
        );
  const watched = subscriptions.length > 0;

  const total = stepsOf(phases).length;
  const done: Step[] = [];
  const dayEnded = new AbortController();
  const held =
    receiver === null
      ? undefined
      : holdWaiting(client, troubled, { receiver, dayEnded: dayEnded.signal, signal });
  // Awaited at the end of the day, which may fail before.
  held?.catch(() => {});
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
  dayEnded.abort();

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
  let results: SceneResult[] = [];
  let otherWebhooks = 0;
  if (receiver !== null && open === null) {
    progress.show(came, expected, 'A receiver comes back, and what another missed is recovered');
    await Promise.all([
      held,
      waitForRecovered(troubled, receiver, fired, signal),
      recoverMissed(client, troubled, signal),
      giveUpGone(client, troubled, signal),
    ]);
    await drop(client, [...subscriptions, ...troubled]);
    results = await resultsOf(client, troubled, signal);
    // The demonstration's own are all inactive by now.
    otherWebhooks = await countActive(client, signal);
  }
  return {
    summary: {
      prefix,
      seed,
      requests,
      seconds,
      kinds,
      badSignatures: receiver?.refused() ?? null,
      scenes: results,
    },
    otherWebhooks,
    problem: open === null ? null : whyMissing(open, { missing: missing(kinds), came, patience: PATIENCE }),
  };
}

function sumOf(counts: ReadonlyMap<unknown, number>): number {
  return [...counts.values()].reduce((sum, each) => sum + each, 0);
}
