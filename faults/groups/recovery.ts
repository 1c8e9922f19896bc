/** Processes die or freeze in the middle of a recovery: each lost event is delivered, once unless in flight. */
import { setTimeout as sleep } from 'node:timers/promises';
import { beginRecovery, type RecoveryRow, readRecovery } from '../../src/db/recoveries/recoveries.ts';
import { type Transaction, transaction } from '../../src/db/transaction.ts';
import type { RecoveryAction } from '../../src/domain/recovery.ts';
import { recordEvent } from '../../test/support/database/record-event.ts';
import type { Fault, Scene } from '../fault.ts';
import { deadlinePassed } from '../machine.ts';
import { RECOVERED, type Script } from '../receivers.ts';
import { TooSlowError } from '../too-slow.ts';
import { frozen, killing, partsByName } from './kill.ts';

/** The type of the lost events: one that no order fires. */
const TYPE = 'UPDATE_PRODUCT';
const LOST = 150;
/** The records that they are about where a webhook keeps an order. */
const RECORDS = 5;
/** How long a recovery stays paused after a kill, in milliseconds: a claim of the killed worker is over by then. */
const PAUSED_AFTER_KILL_MS = 7_000;
const MINUTE_MS = 60_000;
/**
 * How long nothing may change in a running recovery, in milliseconds: its steps come a minute apart at most, and a
 * step met by a kill is tried again, or the workflow is repaired.
 */
const UNCHANGED_MS = 180_000;
const POLL_MS = 200;

const script: Script = { type: TYPE, outcome: 'delivered', delayMs: 100, status: () => 200 };

/** The recoveries of the rounds being played. */
const begun = new WeakMap<Scene, string>();

/**
 * Creates events of no order that were lost, and must be delivered.
 * @param records how many records they are about, by turns; default: each is about another one
 */
export async function recordLost(
  tx: Transaction,
  { shop, logbook }: Scene,
  name: string,
  count: number,
  records = count,
) {
  const { eshopId } = shop;
  for (let index = 0; index < count; index += 1) {
    const entityId = `${name}-${index % records}`;
    const record = { sku: entityId, name: 'A mug' };
    const sequence = Math.floor(index / records) + 1;
    await recordEvent(tx, { eshopId, type: TYPE, entityId, sequence, record });
    logbook.accepted.push({ type: TYPE, entityId, at: null });
  }
}

/** Begins a recovery of events from before the webhook existed. @param count how many there are to see */
export async function beginRecovering(scene: Scene, count: number, by = script): Promise<void> {
  const { stack, shop, receivers } = scene;
  const { eshopId } = shop;
  const { webhookId } = await receivers.open(RECOVERED, by);
  const asked = await beginRecovery(stack.sql, {
    eshopId,
    webhookId,
    since: new Date(Date.now() - MINUTE_MS),
    until: null,
    include: ['missed'],
  });
  if (asked.kind !== 'begun' || asked.found.count !== count)
    throw new Error('The lost events were not found.');
  begun.set(scene, asked.recoveryId);
}

/**
 * Checks that the recovery is completed, and its counts.
 * @throws TooSlowError if a delivery waits for a further attempt: the receiver, which accepts everything, had no
 *   time to answer the last one
 */
export async function isRecovered(scene: Scene, count: number): Promise<void> {
  const row = await lastSeen(scene);
  if (row !== null && row.retrying > 0)
    throw new TooSlowError(`the receiver did not answer ${row.retrying} recovered deliveries in time`);
  if (row?.state !== 'completed') scene.logbook.complaints.push(`The recovery is ${row?.state ?? 'gone'}.`);
  if (row?.created !== count || row.failed !== 0)
    scene.logbook.complaints.push(`It created ${row?.created} deliveries, of which ${row?.failed} failed.`);
}

/** The recovery once it is completed, or once it has not changed for too long. */
async function lastSeen(scene: Scene): Promise<RecoveryRow | null> {
  const { stack, machine } = scene;
  for (let before = '', since = Date.now(); ; await sleep(POLL_MS)) {
    const row = await readRecovery(stack.sql, begun.get(scene) ?? '');
    const counts = JSON.stringify([row?.state, row?.exhausted, row?.created, row?.pending, row?.retrying]);
    if (counts !== before) since = Date.now();
    before = counts;
    if (row?.state === 'completed' || deadlinePassed(machine, since, UNCHANGED_MS)) return row;
  }
}

const common = {
  group: 'recovery',
  injectionPoints: ['recovered 1', 'recovered 15', 'recovered 60', 'recovered 130'],
  async prepare(scene: Scene) {
    await transaction(scene.stack.sql, (tx) => recordLost(tx, scene, 'lost', LOST));
    await beginRecovering(scene, LOST);
  },
  settle: (scene: Scene) => isRecovered(scene, LOST),
} as const;

function killed(name: keyof typeof partsByName): Fault {
  return { ...common, name: `${name} killed in a recovery`, ...killing(partsByName[name]) };
}

const workerFrozen: Fault = {
  ...frozen('worker'),
  ...common,
  name: 'worker frozen in a recovery',
};

/** Behind each of its deliveries others wait in the order of their record: a pause must also hold these. */
const pausedInOrder: Fault = {
  ...common,
  name: 'worker killed in a paused recovery of ordered records',
  policies: ['scaled'],
  injectionPoints: ['recovered 15', 'recovered 60'],
  lasts: [2_000, 4_000],
  async prepare(scene) {
    await transaction(scene.stack.sql, (tx) => recordLost(tx, scene, 'lost', LOST, RECORDS));
    await beginRecovering(scene, LOST, { ...script, ordering: 'record', delayMs: 500 });
  },
  async inject(scene) {
    await steer(scene, 'pause');
    const from = Date.now();
    scene.logbook.recoveryPauses.push({
      webhookId: recoveredWebhook(scene),
      from,
      to: Number.POSITIVE_INFINITY,
    });
  },
  async heal(scene) {
    const { stack, logbook } = scene;
    await stack.worker.kill();
    await stack.worker.start();
    await sleep(PAUSED_AFTER_KILL_MS);
    for (const pause of logbook.recoveryPauses) pause.to = Date.now();
    await steer(scene, 'resume');
  },
};

const recoveredWebhook = ({ receivers }: Scene) =>
  receivers.all.find(({ kind }) => kind === RECOVERED)?.webhookId ?? 0;

async function steer(scene: Scene, action: RecoveryAction): Promise<void> {
  const path = `/webhooks/${recoveredWebhook(scene)}/recoveries/${begun.get(scene)}/${action}`;
  await scene.shop.once('shop', path, {});
}

export const recoveryFaults: readonly Fault[] = [
  ...(['worker', 'API', 'Postgres', 'Temporal', 'everything'] as const).map(killed),
  workerFrozen,
  pausedInOrder,
];
