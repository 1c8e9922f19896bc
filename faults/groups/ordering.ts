/** Records that change during a fault, and webhooks with an order. */
import { setTimeout as sleep } from 'node:timers/promises';
import pLimit from 'p-limit';
import { isOpen } from '../../src/domain/delivery-state.ts';
import { freePort } from '../../test/support/servers/ports.ts';
import { createReceiver, type Receiver } from '../../test/support/servers/receiver.ts';
import { workflowIdOf } from '../../test/support/temporal/workflow-ids.ts';
import {
  type CommittedEvent,
  checkOrder,
  type OrderedArrival,
  type OrderedDelivery,
} from '../check/ordering.ts';
import type { Fault, Scene } from '../fault.ts';
import { RECEIVER_HOST } from '../stack/stack.ts';
import { frozen, killed } from './kill.ts';
import { temporal } from './operator.ts';
import { standbyFaults } from './standby.ts';
import { wiped } from './temporal.ts';

/** The number of records that change at once: the other orders of the round need their turn, too. */
const AT_ONCE = 20;
/** The time between two changes to a record, in milliseconds. */
const PAUSE_MS = [20, 300] as const;
/** Long, since there is much load: other groups check whether deliveries are in time. In milliseconds. */
const GRACE_MS = 60_000;
/** The longest time in which no delivery ends, in milliseconds: the reconciler has to find some of them. */
const PATIENCE_MS = 120_000;
const POLL_MS = 200;

/** How often a delivery is refused at first: one in sixteen for about a second, one in eight for a moment. */
function refusals(deliveryId: string): number {
  const last = deliveryId.at(-1) ?? '';
  if (last === '0') return 14;
  return last === '1' || last === '2' ? 2 : 0;
}

interface Side {
  readonly name: string;
  readonly latest: boolean;
  readonly types: readonly ('CREATE_ORDER' | 'UPDATE_ORDER')[];
  readonly webhookIds: readonly number[];
  readonly arrivals: readonly OrderedArrival[];
  readonly server: Receiver;
}

interface Traffic {
  readonly records: readonly string[];
  readonly sides: readonly Side[];
  readonly sent: Promise<unknown>;
  readonly canceled: Set<string>;
}

const traffics = new WeakMap<Scene, Traffic>();

function trafficOf(scene: Scene): Traffic {
  const traffic = traffics.get(scene);
  if (traffic === undefined) throw new Error('This round has no ordered traffic.');
  return traffic;
}

/** The webhooks of its ordered traffic; none without. */
export function orderedWebhooks(scene: Scene): readonly number[] {
  return traffics.get(scene)?.sides.flatMap(({ webhookIds }) => webhookIds) ?? [];
}

async function openSide({ shop }: Scene, ordering: 'record' | 'latest', types: Side['types']): Promise<Side> {
  const arrivals: { deliveryId: string; at: number; endedAt: number; accepted: boolean }[] = [];
  const server = await createReceiver(
    async ({ headers }) => {
      const deliveryId = String(headers['x-service-delivery']);
      const accepted = Number(headers['x-service-attempt']) > refusals(deliveryId);
      const arrival = { deliveryId, at: Date.now(), endedAt: Number.POSITIVE_INFINITY, accepted };
      arrivals.push(arrival);
      await sleep(Number(`0x${deliveryId.at(-2)}`) * 2);
      arrival.endedAt = Date.now();
      return { status: accepted ? 200 : 503 };
    },
    { host: RECEIVER_HOST, port: await freePort() },
  );
  const webhookIds: number[] = [];
  for (const type of types)
    webhookIds.push(await shop.subscribe(`http://${RECEIVER_HOST}:${server.port}/${type}`, type, ordering));
  return { name: ordering, latest: ordering === 'latest', types, webhookIds, arrivals, server };
}

async function begin(scene: Scene): Promise<void> {
  const { shop, random, logbook, ordered } = scene;
  logbook.graceMs = Math.max(logbook.graceMs, GRACE_MS);
  const sides = [
    await openSide(scene, 'record', ['CREATE_ORDER', 'UPDATE_ORDER']),
    await openSide(scene, 'latest', ['UPDATE_ORDER']),
  ];
  const records = Array.from({ length: ordered.records }, (_, index) => `ordered-${shop.eshopId}-${index}`);
  const pauses = records.map(() =>
    Array.from({ length: ordered.events - 1 }, () => random.integer(PAUSE_MS[0], PAUSE_MS[1])),
  );
  const sent = pLimit(AT_ONCE).map([...records.entries()], async ([index, id]) => {
    await shop.createOrder(id);
    for (const [change, pause] of (pauses[index] ?? []).entries()) {
      await sleep(pause);
      await shop.annotate(id, `change ${change}`);
    }
  });
  // Awaited in `settle`.
  sent.catch(() => {});
  traffics.set(scene, { records, sides, sent, canceled: new Set() });
}

const readDeliveries = ({ stack }: Scene, { webhookIds }: Side) => stack.sql<OrderedDelivery[]>`
  select id, event_type as type, entity_id, sequence::float8 as sequence, state, superseded_by
  from deliveries where webhook_id = any(${[...webhookIds]}::int[]) and entity_id like 'ordered-%' order by id`;

async function settle(scene: Scene): Promise<void> {
  const { stack, shop, logbook } = scene;
  const { sides, sent, records, canceled } = trafficOf(scene);
  await sent;
  let all: OrderedDelivery[][] = [];
  let open = Number.POSITIVE_INFINITY;
  // On a busy machine this takes longer, but nothing is stuck.
  for (let end = Date.now() + PATIENCE_MS; open > 0 && Date.now() < end; await sleep(POLL_MS)) {
    all = await Promise.all(sides.map((side) => readDeliveries(scene, side)));
    const left = all.flat().filter(({ state }) => isOpen(state)).length;
    if (left < open) end = Date.now() + PATIENCE_MS;
    open = left;
  }
  const events = await stack.sql<CommittedEvent[]>`
    select type, entity_id, sequence::float8 as sequence from events
    where eshop_id = ${shop.eshopId} and entity_id = any(${[...records]}::text[])`;
  const accepted = logbook.accepted.filter(({ entityId }) => records.includes(entityId)).length;
  if (events.length < accepted)
    logbook.complaints.push(
      `${accepted} changes to ordered records were accepted, ${events.length} are known`,
    );
  for (const [index, side] of sides.entries())
    logbook.found.push(...checkOrder({ ...side, deliveries: all[index] ?? [], canceled }, events));
}

/** The same fault, while records change. */
export function inOrder(fault: Fault, of: Partial<Fault> = {}): Fault {
  return {
    ...fault,
    group: 'order',
    name: `with ordering: ${fault.name}`,
    // Refused deliveries are retried within the round.
    policies: ['scaled'],
    injectionPoints: ['orders'],
    ...of,
    async prepare(scene) {
      await fault.prepare?.(scene);
      await begin(scene);
    },
    async settle(scene) {
      await fault.settle?.(scene);
      await settle(scene);
    },
    async finish(scene) {
      await fault.finish?.(scene);
      for (const { server } of traffics.get(scene)?.sides ?? []) await server.close();
    },
  };
}

/** Ends workflows of some deliveries that wait for their next attempt, with others of their record behind them. */
const terminated: Fault = {
  group: 'order',
  name: 'workflows terminated',
  policies: ['scaled'],
  injectionPoints: ['orders'],
  lasts: [500, 2_000],
  async inject(scene) {
    const { sides, canceled } = trafficOf(scene);
    const rows = (await Promise.all(sides.map((side) => readDeliveries(scene, side)))).flat();
    for (const { id } of rows.filter(({ state }) => state === 'retrying').slice(0, 6)) {
      canceled.add(id);
      const workflowId = await workflowIdOf(scene.stack.sql, id);
      await temporal(scene, 'workflow', 'terminate', '--workflow-id', workflowId).catch(() => {});
    }
  },
};

export const orderFaults: readonly Fault[] = [
  ...(['worker', 'Postgres', 'Temporal', 'everything'] as const).map((name) => inOrder(killed(name))),
  inOrder(frozen('worker')),
  inOrder(terminated),
  inOrder(wiped),
  ...standbyFaults.map((fault) => inOrder(fault)),
];
