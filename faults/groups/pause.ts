/**
 * Webhooks are paused while something dies: nothing reaches their receivers during the pause, nothing is lost, late
 * or spent, and the queue goes on by itself afterwards, with or without Temporal.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { until } from '../../test/support/until.ts';
import type { Fault, Scene } from '../fault.ts';
import { TooSlowError } from '../too-slow.ts';
import { killing, partsByName } from './kill.ts';
import { inOrder, orderedWebhooks } from './ordering.ts';

/** The receivers whose webhooks are paused; the others must notice nothing. */
const PAUSED: readonly string[] = ['healthy', 'flaky', 'failing'];
/** How long a pause lasts, in milliseconds: parts killed as it begins are mostly back before its end. */
const PAUSE_MS = 12_000;
/** How long before the end of a pause something is killed, in milliseconds. */
const BEFORE_END_MS = 500;
/** How long what waited in the queue may take to reach a receiver after a pause, in milliseconds. */
const GOES_ON_MS = 30_000;

interface Paused {
  readonly webhookIds: readonly number[];
  /** When the last of the pauses ends; resolves when all requests are answered. */
  readonly asked: Promise<number>;
}
const pauses = new WeakMap<Scene, Paused>();

function pauseOf(scene: Scene) {
  const pause = pauses.get(scene);
  if (pause === undefined) throw new Error('Nothing is paused.');
  return pause;
}

/** On a busy machine the receiver that always fails may have had its 21 attempts before. */
function notPaused(error: unknown): never {
  const spent = error instanceof Error && error.message.includes('is inactive');
  throw spent ? new TooSlowError('a webhook was deactivated before its pause') : error;
}

/** Asks for the pause, until it is answered: the API may be dying. */
function beginPause(scene: Scene): void {
  const { receivers, shop, logbook } = scene;
  const webhookIds = [
    ...receivers.all.filter(({ kind }) => PAUSED.includes(kind)).map(({ webhookId }) => webhookId),
    ...orderedWebhooks(scene),
  ];
  const asked = Promise.all(
    webhookIds.map(async (webhookId) => {
      const pause = { webhookId, ...(await shop.pause(webhookId, PAUSE_MS).catch(notPaused)) };
      logbook.pauses.push(pause);
      return pause.to;
    }),
  ).then((ends) => Math.max(...ends));
  // Awaited once everything is back.
  asked.catch(() => {});
  pauses.set(scene, { webhookIds, asked });
}

/** Checks that no workflow is started for deliveries that only wait. */
async function checkWaiting({ stack, logbook }: Scene, webhookIds: readonly number[]): Promise<void> {
  const [row] = await stack.sql<{ started: number }[]>`
    select count(*)::int as started from deliveries d
    where d.webhook_id = any(${[...webhookIds]}::int[]) and d.state = 'pending' and d.dispatched_at is not null
      and not exists (select from attempts a where a.delivery_id = d.id)`;
  if (row !== undefined && row.started > 0)
    logbook.complaints.push(
      `${row.started} deliveries that only wait for the end of a pause have a workflow.`,
    );
}

/** Waits until the pause is nearly over. */
async function untilNearlyOver(scene: Scene): Promise<void> {
  const pause = pauseOf(scene);
  const end = await pause.asked;
  await sleep(Math.max(0, end - BEFORE_END_MS - Date.now()));
  await checkWaiting(scene, pause.webhookIds);
}

const common = { group: 'pause', policies: ['scaled'], injectionPoints: ['orders'] } as const;

function atBegin(name: keyof typeof partsByName): Fault {
  const { inject, heal } = killing(partsByName[name]);
  return {
    ...common,
    name: `${name} killed as a pause begins`,
    lasts: [0, 3_000],
    async inject(scene) {
      beginPause(scene);
      await sleep(scene.random.integer(0, 60));
      await inject?.(scene);
    },
    async heal(scene) {
      await heal?.(scene);
      await pauseOf(scene).asked;
    },
  };
}

function atEnd(name: keyof typeof partsByName): Fault {
  const { inject, heal } = killing(partsByName[name]);
  return {
    ...common,
    name: `${name} killed as a pause ends`,
    lasts: [0, 3_000],
    async inject(scene) {
      beginPause(scene);
      await untilNearlyOver(scene);
      await inject?.(scene);
    },
    ...(heal === undefined ? {} : { heal }),
  };
}

/** Temporal is unavailable from before the end of the pause until the queue has gone on without it. */
const withoutTemporal: Fault = {
  ...common,
  name: 'Temporal unavailable as a pause ends',
  async inject(scene) {
    beginPause(scene);
    await untilNearlyOver(scene);
    await scene.stack.temporal.kill();
  },
  async heal(scene) {
    const { receivers, stack, logbook } = scene;
    const end = await pauseOf(scene).asked;
    const healthy = receivers.all.find(({ kind }) => kind === 'healthy');
    await until(
      'a delivery after the pause',
      async () => healthy?.arrivals.some(({ at }) => at >= end),
      GOES_ON_MS,
    ).catch(() =>
      logbook.complaints.push('Nothing was delivered after the pause while Temporal was unavailable.'),
    );
    await stack.temporal.start();
  },
};

/** Ended before its time by the e-shop, while no worker runs. */
const resumedEarly: Fault = {
  ...common,
  name: 'worker killed as a pause is ended by its e-shop',
  lasts: [0, 3_000],
  async inject(scene) {
    beginPause(scene);
    const { webhookIds, asked } = pauseOf(scene);
    await asked;
    await sleep(PAUSE_MS / 3);
    await checkWaiting(scene, webhookIds);
    await scene.stack.worker.kill();
    for (const webhookId of webhookIds) {
      const to = await scene.shop.resume(webhookId);
      const pause = scene.logbook.pauses.find((each) => each.webhookId === webhookId);
      if (pause !== undefined) pause.to = to;
    }
  },
  heal: async ({ stack }) => stack.worker.start(),
};

const workerAtEnd = atEnd('worker');

export const pauseFaults: readonly Fault[] = [
  atBegin('worker'),
  atBegin('API'),
  atBegin('everything'),
  workerAtEnd,
  atEnd('everything'),
  withoutTemporal,
  resumedEarly,
  inOrder(workerAtEnd, { group: 'pause' }),
  inOrder(withoutTemporal, { group: 'pause' }),
];
