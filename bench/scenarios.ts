/** Scenarios beside which a neighbor is measured: those in which Waybill once failed. */
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { transaction } from '../src/db/transaction.ts';
import { recordEvent } from '../test/support/database/record-event.ts';
import { benchRecord } from './backlog.ts';
import type { ReceiverProcess } from './receiver-process.ts';
import { sendFlatOut } from './rounds.ts';
import { MOVEMENT, type Shop } from './shop.ts';
import type { Sizes } from './sizes.ts';
import { type Stack, silentName } from './stack.ts';
import { untilNone } from './until-none.ts';

/** Where a scenario is played. */
export interface Place {
  readonly stack: Stack;
  /** An e-shop other than the healthy one, and another receiver. */
  readonly shop: Shop;
  readonly receiver: ReceiverProcess;
  readonly sizes: Sizes;
  /** The time limit for its preparation, in milliseconds. */
  readonly patienceMs: number;
}

/** A scenario. */
export interface Scenario {
  readonly name: string;
  /** What is measured beside the healthy e-shop's own latency. */
  readonly measures?: 'its own deliveries' | 'its retries' | 'reads of the API';
  /** Further variables of the workers. */
  readonly env?: Readonly<Record<string, string>>;
  /** Prepares the scenario. Returns the ids of the webhooks, which are deleted afterwards. */
  prepare(place: Place): Promise<readonly number[]>;
  /** Plays the scenario until it is done or the healthy e-shop's trial is over. */
  make(place: Place, webhooks: readonly number[], over: AbortSignal): Promise<void>;
}

/** Clients of the trial of orders. */
const CLIENTS = 16;
const MANY = Number.MAX_SAFE_INTEGER;
/** Orders per second to many webhooks that never answer, or fail. */
const PER_SECOND = 2;
/** Lines of an order of 98 KB. */
const LARGE_LINES = 1_000;
/** The number of clients whose bodies have many unknown fields, and the number of these fields: 0.9 MB. */
const NONSENSE_CLIENTS = 4;
const NONSENSE_FIELDS = 80_000;

const promptly = async ({ shop, receiver }: Place, type: string) => [
  await shop.createWebhook(type, `${receiver.url}/prompt/${type}`),
];

/** Creates webhooks, each at its own host, up to the number of the receiver's hosts. */
async function many(
  { shop, receiver, sizes }: Place,
  type: string,
  path: string,
  originOf = receiver.urlOf,
): Promise<number[]> {
  const ids: number[] = [];
  for (let index = 0; index < sizes.scenarioWebhooks; index += 1)
    ids.push(await shop.createWebhook(type, `${originOf(index)}/${path}/${index}`));
  return ids;
}

async function sendSlowly({ shop }: Place, _webhooks: readonly number[], over: AbortSignal): Promise<void> {
  while (!over.aborted) {
    await shop.createOrder();
    await sleep(1000 / PER_SECOND, undefined, { signal: over }).catch(() => {});
  }
}

/** Orders at an easy pace to many webhooks, each at its own host. @param path the receiver's behavior */
const manyThat = (name: string, path: string): Scenario => ({
  name,
  prepare: (place) => many(place, 'CREATE_ORDER', path),
  make: sendSlowly,
});

export const scenarios: readonly Scenario[] = [
  {
    name: 'an import',
    prepare: (place) => promptly(place, MOVEMENT),
    async make({ shop, sizes }) {
      await shop.importMovements(sizes.scenarioLines);
    },
  },
  {
    name: 'a webhook switched off with many open deliveries',
    async prepare(place) {
      const { shop, receiver, stack, sizes, patienceMs } = place;
      const id = await shop.createWebhook('CREATE_ORDER', `${receiver.url}/failing/orders`);
      await fireOrders(stack, shop.eshopId, sizes.scenarioOpen);
      await untilAttempted(stack, id, patienceMs);
      return [id];
    },
    async make({ shop }, [id = 0]) {
      await shop.deactivateWebhook(id);
    },
  },
  manyThat('many webhooks that never answer', 'silent'),
  manyThat('many webhooks that fail after almost two seconds', 'slow-503'),
  manyThat('many webhooks that fail at once', 'failing'),
  manyThat('many webhooks with endless headers', 'endless'),
  {
    name: 'many webhooks with names that nobody answers for',
    prepare: (place) => many(place, 'CREATE_ORDER', 'prompt', (index) => `http://${silentName(index)}`),
    make: sendSlowly,
  },
  {
    name: 'many webhooks, and a large order that changes again and again',
    prepare: (place) => many(place, 'UPDATE_ORDER', 'prompt'),
    async make({ shop }, _webhooks, over) {
      const change = await shop.createLargeOrder(LARGE_LINES);
      while (!over.aborted) {
        const pauseMs = await change();
        await sleep(pauseMs, undefined, { signal: over }).catch(() => {});
      }
    },
  },
  {
    name: `${CLIENTS} clients that send orders`,
    measures: 'its own deliveries',
    prepare: (place) => promptly(place, 'CREATE_ORDER'),
    async make({ shop }, _webhooks, over) {
      await sendFlatOut(shop, MANY, CLIENTS, () => !over.aborted);
    },
  },
  {
    name: 'writes and an import, delivered at once',
    async prepare(place) {
      return [...(await promptly(place, 'CREATE_ORDER')), ...(await promptly(place, MOVEMENT))];
    },
    async make({ shop }, _webhooks, over) {
      const more = () => !over.aborted;
      await Promise.all([shop.importMovements(MANY, more), sendFlatOut(shop, MANY, CLIENTS / 4, more)]);
    },
  },
  {
    name: 'pre-orders that are due at one time',
    prepare: (place) => promptly(place, 'UPDATE_ORDER_STATUS'),
    async make({ shop, sizes }, _webhooks, over) {
      const due = new Date(Date.now() + halfOf(sizes) * 1000);
      await sendFlatOut(shop, sizes.scenarioPreOrders, CLIENTS, () => !over.aborted, due);
    },
  },
  {
    name: 'failures that are due again at one time',
    measures: 'its retries',
    async prepare({ shop, receiver, sizes }) {
      const due = Date.now() + halfOf(sizes) * 1000;
      return [await shop.createWebhook('CREATE_ORDER', `${receiver.url}/later/${due}`)];
    },
    async make({ shop, sizes }, _webhooks, over) {
      await sendFlatOut(shop, sizes.scenarioOpen, CLIENTS, () => !over.aborted);
    },
  },
  {
    name: 'deliveries that fail together, three times',
    measures: 'its retries',
    // Their second and third attempts fall due during the trial.
    env: { RETRY_INITIAL_INTERVAL: '10s' },
    prepare: async ({ shop, receiver }) => [
      await shop.createWebhook('CREATE_ORDER', `${receiver.url}/failing/orders`),
    ],
    async make({ stack, shop, sizes }, _webhooks, over) {
      await fireOrders(stack, shop.eshopId, sizes.failTogether);
      if (!over.aborted) await once(over, 'abort');
    },
  },
  {
    name: `${NONSENSE_CLIENTS} clients with bodies of ${NONSENSE_FIELDS} unknown fields`,
    measures: 'reads of the API',
    prepare: async () => [],
    async make({ shop }, _webhooks, over) {
      const fields = Array.from({ length: NONSENSE_FIELDS }, (_, index) => [`f${index}`, 0]);
      const body = Buffer.from(JSON.stringify(Object.fromEntries(fields)));
      // Its clients have no patience: they treat a 429 like any other response.
      const client = async () => {
        while (!over.aborted) {
          const status = await shop.sendNonsense(body);
          if (status !== 400 && status !== 429) throw new Error(`Nonsense was answered with ${status}.`);
        }
      };
      await Promise.all(Array.from({ length: NONSENSE_CLIENTS }, client));
    },
  },
];

/** After this time all the work of a scenario falls due at once: half of the trial, in seconds. */
const halfOf = ({ trialSeconds }: Sizes) => Math.max(3, trialSeconds / 2);

/** Writes events of orders as the API would. */
async function fireOrders({ sql }: Stack, eshopId: number, count: number): Promise<void> {
  await transaction(sql, async (tx) => {
    for (let index = 0; index < count; index += 1) {
      const entityId = `open-${index}`;
      await recordEvent(tx, { eshopId, type: 'CREATE_ORDER', entityId, record: benchRecord(entityId) });
    }
  });
}

/** Waits until each has failed once and waits, in a workflow, for its next attempt. */
async function untilAttempted({ sql }: Stack, webhookId: number, patienceMs: number): Promise<void> {
  await untilNone('deliveries of the webhook that were not attempted', patienceMs, async () => {
    const left = await sql`
      select from deliveries
      where webhook_id = ${webhookId} and (attempts_made = 0 or dispatched_at is null) limit 1`;
    return left.length;
  });
}
