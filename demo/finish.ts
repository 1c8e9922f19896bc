/**
 * The end of a demonstration with scenes: their outstanding deliveries are made, missed events are recovered, and
 * then every webhook is deactivated, so that nothing is sent, mailed or deactivated after the demonstration.
 */
import * as v from 'valibot';
import { pollUntil } from '../src/lib/poll-until.ts';
import type { Client } from './client.ts';
import type { DemoReceiver } from './receiver.ts';
import type { SceneResult } from './scene-results.ts';
import { countOf, deliveriesOf, type SceneSubscription, type Subscription } from './subscriptions.ts';

/** How many requests the receiver of the scene `waiting` refuses before its webhook is deactivated. */
const REJECTED_BEFORE_HOLD = 3;
/** How long nothing may arrive before a scene is left as it is, and how often it is checked, in milliseconds. */
const LOOKS = { patienceMs: 60_000, everyMs: 100 };

const recoverySchema = v.object({ recoveryId: v.string() });
const deliveriesSchema = v.array(v.object({ id: v.string() }));
const stateSchema = v.object({ state: v.string() });

const change = (client: Client, { id }: Pick<Subscription, 'id'>, what: 'activate' | 'deactivate') =>
  client.send({ by: 'shop', method: 'PUT', path: `/v21/webhooks/${id}/${what}` });

/**
 * Deactivates the webhook of the scene `waiting` once its receiver has refused some requests: its open deliveries
 * are held.
 * @param dayEnded aborted when no more requests will come
 */
export async function holdWaiting(
  client: Client,
  scenes: readonly SceneSubscription[],
  { receiver, dayEnded, signal }: { receiver: DemoReceiver; dayEnded: AbortSignal; signal: AbortSignal },
): Promise<void> {
  const waiting = scenes.find(({ scene }) => scene.name === 'waiting');
  if (waiting === undefined) return;
  const rejected = () => receiver.rejected(waiting.id);
  await pollUntil(rejected, (seen) => seen >= REJECTED_BEFORE_HOLD || (dayEnded.aborted && seen > 0), {
    ...LOOKS,
    signal,
  });
  await change(client, waiting, 'deactivate');
}

/** Waits until a receiver has accepted everything that was fired for its webhook. */
export async function waitForRecovered(
  scenes: readonly SceneSubscription[],
  receiver: DemoReceiver,
  fired: ReadonlyMap<string, number>,
  signal: AbortSignal,
): Promise<void> {
  for (const { id, kind, scene } of scenes) {
    if (scene.name !== 'down' && scene.name !== 'slow') continue;
    const wanted = fired.get(kind) ?? 0;
    await pollUntil(
      () => receiver.delivered(id),
      (seen) => seen >= wanted,
      { ...LOOKS, signal },
    );
  }
}

/** Activates the webhook that was inactive all day, and recovers the events it missed. */
export async function recoverMissed(
  client: Client,
  scenes: readonly SceneSubscription[],
  signal: AbortSignal,
): Promise<void> {
  const missed = scenes.find(({ scene }) => scene.name === 'missed');
  if (missed === undefined) return;
  const path = `/v21/webhooks/${missed.id}`;
  await change(client, missed, 'activate');
  const body = { since: missed.registeredAt, include: ['missed'] };
  const { data } = await client.send({ by: 'shop', method: 'POST', path: `${path}/recover`, body }, signal);
  const { recoveryId } = v.parse(recoverySchema, data);
  const look = async () => {
    const answer = await client.send(
      { by: 'shop', method: 'GET', path: `${path}/recoveries/${recoveryId}` },
      signal,
    );
    return v.parse(stateSchema, answer.data).state;
  };
  await pollUntil(look, (state) => state === 'completed', { ...LOOKS, signal });
}

/**
 * Gives up the deliveries that were open when their receiver answered 410, until all of them have ended: only the
 * scene `waiting` should have held ones. A delivery that was being attempted at that moment is held a little later.
 */
export async function giveUpGone(
  client: Client,
  scenes: readonly SceneSubscription[],
  signal: AbortSignal,
): Promise<void> {
  const gone = scenes.find(({ scene }) => scene.name === 'gone');
  if (gone === undefined) return;
  const look = async () => {
    // First the states that may become `held`: in the other order, a delivery that is held in between would be in
    // neither answer.
    let open = 0;
    for (const state of ['pending', 'retrying']) open += await countOf(client, gone, state, signal);
    const { data } = await deliveriesOf(client, gone, 'held', { items: 100, signal });
    const held = v.parse(deliveriesSchema, data);
    for (const { id } of held) {
      const giveUp = { by: 'shop', method: 'POST', path: `/v21/deliveries/${id}/give-up` } as const;
      // Refused if it has just ended, unanswered if the worker is busy: the next check shows it.
      await client.send(giveUp, signal).catch(() => signal.throwIfAborted());
    }
    return open + held.length;
  };
  await pollUntil(look, (open) => open === 0, { ...LOOKS, signal });
}

/** Deactivates every webhook; an inactive one stays as it is. */
export async function drop(client: Client, subscriptions: readonly Subscription[]): Promise<void> {
  for (const subscription of subscriptions) await change(client, subscription, 'deactivate');
}

/** The counts of each scene in the delivery log. */
export async function resultsOf(
  client: Client,
  scenes: readonly SceneSubscription[],
  signal: AbortSignal,
): Promise<SceneResult[]> {
  const results: SceneResult[] = [];
  for (const subscription of scenes) {
    const { id, scene } = subscription;
    const inState = (state: string) => countOf(client, subscription, state, signal);
    results.push({
      scene: scene.name,
      webhookId: id,
      title: scene.title,
      delivered: await inState('delivered'),
      failed: await inState('failed'),
      canceled: await inState('canceled'),
      held: await inState('held'),
    });
  }
  return results;
}
