/** Operator actions on single deliveries: each answers with a sentence about its effect. */
import type { Client } from '@temporalio/client';
import { retryPolicyOf } from '../config/config.ts';
import type { Settings } from '../config/variables.ts';
import type { Pool } from '../db/connection/pool.ts';
import { deliveryTarget, findDelivery } from '../db/deliveries/delivery-log.ts';
import { type Redelivery, redeliver } from '../db/outbox/redeliver.ts';
import { isOpen } from '../domain/delivery-state.ts';
import type { ActionName } from '../domain/operator-action.ts';
import { withDatabase } from './open-database.ts';

interface Request {
  readonly action: ActionName;
  readonly ids: readonly string[];
  readonly by: string;
  readonly reason: string;
}

export interface Answer {
  readonly deliveryId: string;
  readonly done: boolean;
  readonly message: string;
  /** The new delivery, if an ended one was redelivered. */
  readonly redelivery: string | null;
  readonly paused?: true | undefined;
}

function whyNotRedelivered(redelivery: Exclude<Redelivery, { kind: 'created' }>, id: string): string {
  switch (redelivery.kind) {
    case 'inactive':
      return `Webhook ${redelivery.webhookId} is inactive. Activate it first: waybill webhooks activate ${redelivery.webhookId}`;
    case 'open':
      return redelivery.id === id
        ? `It is still open. To make its next attempt now: waybill deliveries try-now ${id}`
        : `Delivery ${redelivery.id} of the same event to this webhook is still open.`;
    case 'forgotten':
      return 'Its event is no longer kept: there is nothing left to send.';
    case 'notFound':
      return 'There is no such delivery, or its webhook is deleted.';
  }
}

/** The answer for a delivery that has ended or does not exist; null while it is open. */
async function answerIfEnded(sql: Pool, deliveryId: string, redelivers: boolean): Promise<Answer | null> {
  const refused = (message: string): Answer => ({ deliveryId, done: false, message, redelivery: null });
  const target = await deliveryTarget(sql, deliveryId);
  const found = target === null ? null : await findDelivery(sql, target.eshopId, deliveryId);
  if (target === null || found === null) return refused(whyNotRedelivered({ kind: 'notFound' }, deliveryId));
  const { state } = found.delivery;
  if (state === 'held' || isOpen(state)) return null;
  if (!redelivers)
    return refused(
      `It has ended as ${state}. To send its event again: waybill deliveries redeliver ${deliveryId}`,
    );
  const redelivery = await redeliver(sql, target.eshopId, deliveryId);
  if (redelivery.kind !== 'created') return refused(whyNotRedelivered(redelivery, deliveryId));
  const message = `It has ended as ${state}: its event is delivered again, as ${redelivery.id}.`;
  return { deliveryId, done: true, message, redelivery: redelivery.id };
}

/** Redelivers the events of ended deliveries; `answered` is called with each answer at once. */
export async function redeliverEach(
  settings: Settings,
  ids: readonly string[],
  answered: (answer: Answer) => void,
): Promise<void> {
  await withDatabase(settings, async (sql) => {
    for (const deliveryId of ids) {
      const message = whyNotRedelivered({ kind: 'open', id: deliveryId }, deliveryId);
      const open: Answer = { deliveryId, done: false, message, redelivery: null };
      answered((await answerIfEnded(sql, deliveryId, true)) ?? open);
    }
  });
}

/** Acts on one delivery after another, first on those in the queue; calls `answered` at once with each answer. */
export async function actOnDeliveries(
  settings: Settings,
  { action, ids, by, reason }: Request,
  answered: (answer: Answer) => void,
): Promise<void> {
  await withDatabase(settings, async (sql) => {
    const open: string[] = [];
    for (const id of ids) {
      const answer = action === 'tryNow' ? await answerIfEnded(sql, id, false) : null;
      if (answer === null) open.push(id);
      else answered(answer);
    }
    if (open.length === 0) return;
    // Loading the client takes longer than everything else.
    const [{ withTemporal }, { createOperatorActions }] = await Promise.all([
      import('./open-temporal.ts'),
      import('../temporal/operator-actions.ts'),
    ]);
    const actOn = (some: readonly string[]) => async (client: Client) => {
      const request = createOperatorActions({ client, sql, policy: retryPolicyOf(settings) });
      for (const deliveryId of some) {
        const answer = await request(action, deliveryId, { reason, by });
        const { accepted: done, message, forOperators = message, paused } = answer;
        answered({ deliveryId, done, message: forOperators, redelivery: null, paused });
      }
    };
    const queued: string[] = [];
    const others: string[] = [];
    for (const id of open) ((await deliveryTarget(sql, id))?.queued ? queued : others).push(id);
    // The database decides about deliveries in the queue, even while Temporal is unavailable.
    if (queued.length > 0) await withTemporal(settings, actOn(queued), { lazy: true });
    if (others.length > 0) await withTemporal(settings, actOn(others));
  });
}
