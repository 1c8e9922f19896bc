/** The compensation after the exhausted retries of a delivery. */
import { type FinalState, isOpen, type StoredState } from '../../domain/delivery-state.ts';
import type { EventType } from '../../domain/event-types.ts';
import type { OperatorStop } from '../../domain/operator-action.ts';
import type { Pool } from '../connection/pool.ts';
import { addDeactivationNotices } from '../notices/decide.ts';
import { enqueueWebhookChange } from '../outbox/changes.ts';
import { settleOrdering } from '../outbox/keep-ordering.ts';
import { transaction } from '../transaction.ts';
import { endPause } from '../webhooks/pause.ts';
import { closeOpen } from './deliveries.ts';

/** The changes made by this run; a repeated run makes none. */
interface Transition {
  readonly eventType: EventType;
  readonly eshopId: number;
  readonly webhookId: number;
  /** Why the webhook was deactivated; null if it was not. */
  readonly deactivated: 'retriesExhausted' | 'gone' | null;
}

export interface Compensation {
  /** `canceled`: it had been given up, or does not exist. */
  readonly state: FinalState;
  readonly attemptsMade: number;
  readonly lastError: string | null;
  readonly deactivatedGeneration: number | null;
  readonly transition: Transition | null;
}

interface LastTry
  extends Pick<Compensation, 'attemptsMade' | 'lastError'>,
    Pick<Transition, 'eventType' | 'eshopId' | 'webhookId'> {
  readonly state: StoredState;
  readonly lastGeneration: number | null;
  readonly operatorStop: OperatorStop | null;
  readonly lastOutcome: string | null;
}

/**
 * The compensation's only transaction (docs/interface.md, D7): delivery → failed and, if the last attempt's
 * generation is still current, webhook → inactive with its deactivation and a change for the other deliveries. A
 * repeated run returns the same, without `transition`. A delivery that was given up while its last attempt was under
 * way is canceled instead, and its webhook stays as it is (L13). After a 410 it takes effect at once, even while
 * Temporal is unavailable: the delivery's workflow finds it done, and mails.
 */
export async function compensate(sql: Pool, deliveryId: string): Promise<Compensation> {
  const compensation = await transaction(sql, async (tx): Promise<Compensation> => {
    const [delivery] = await tx<LastTry[]>`
      select d.webhook_id, d.eshop_id, d.event_type, d.state, d.attempts_made, d.last_error, d.last_generation,
             d.operator_stop, a.outcome as last_outcome
      from deliveries d left join attempts a on a.delivery_id = d.id and a.number = d.attempts_made
      where d.id = ${deliveryId} for update of d`;
    const unchanged = { deactivatedGeneration: null, transition: null };
    if (delivery === undefined) return { state: 'canceled', attemptsMade: 0, lastError: null, ...unchanged };
    const { state, attemptsMade, lastError, eshopId, webhookId, eventType } = delivery;
    if (!isOpen(state)) {
      const [mine] = await tx<{ generation: number }[]>`
        select generation from deactivations where webhook_id = ${webhookId} and delivery_id = ${deliveryId}`;
      const deactivatedGeneration = mine?.generation ?? null;
      return { state, attemptsMade, lastError, deactivatedGeneration, transition: null };
    }
    const transition = { eventType, eshopId, webhookId };
    if (delivery.operatorStop === 'giveUp') {
      await closeOpen(tx, deliveryId, 'canceled', null);
      const canceled = { ...transition, deactivated: null };
      return { state: 'canceled', attemptsMade, lastError, ...unchanged, transition: canceled };
    }
    await tx`
      update deliveries set state = 'failed', finished_at = now(), next_attempt_at = null where id = ${deliveryId}`;
    const [deactivated] = await tx<{ generation: number }[]>`
      update webhooks set active = false, unregistered_at = now()
      where id = ${webhookId} and active and deleted_at is null and generation = ${delivery.lastGeneration}
      returning generation`;
    const reason = delivery.lastOutcome === 'gone' ? 'gone' : 'retriesExhausted';
    if (deactivated !== undefined) {
      await endPause(tx, webhookId);
      await tx`
        insert into deactivations (webhook_id, generation, reason, at, delivery_id, last_error)
        values (${webhookId}, ${deactivated.generation}, ${reason}, now(), ${deliveryId}, ${lastError})`;
      await addDeactivationNotices(tx, { webhookId, generation: deactivated.generation, deliveryId });
      await enqueueWebhookChange(tx, eshopId, webhookId);
    }
    return {
      state: 'failed',
      attemptsMade,
      lastError,
      deactivatedGeneration: deactivated?.generation ?? null,
      transition: { ...transition, deactivated: deactivated === undefined ? null : reason },
    };
  });
  // The next delivery in its ordering group goes on. If that fails, the relay repairs it; this is reported.
  await settleOrdering(sql, { records: [deliveryId] }).catch(() => {});
  return compensation;
}
