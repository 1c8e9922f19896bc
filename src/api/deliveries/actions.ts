/** The actions that an e-shop may request for its own open delivery (docs/interface.md, L13). */
import { setTimeout as pause } from 'node:timers/promises';
import type { Hono } from 'hono';
import type { Turns } from '../../concurrency/turns.ts';
import { findDelivery } from '../../db/deliveries/delivery-log.ts';
import { askedBy } from '../../domain/operator-action.ts';
import { conflict, orNotFound, Problem } from '../../domain/problem.ts';
import { createPlaces } from '../budget/places.ts';
import type { ApiDeps, ApiEnv } from '../deps.ts';
import { describeOperation } from '../describe.ts';
import { ok } from '../envelope.ts';
import { params } from '../validate.ts';
import { DeliveryWithAttempts, deliveryId, fullRecordOf, noSuchDelivery, tag } from './record.ts';

const actions = [
  {
    path: '/deliveries/:id/try-now',
    id: 'tryDeliveryNow',
    action: 'tryNow',
    summary: 'Try a delivery now',
    description:
      'Makes the next attempt of an open delivery immediately instead of at its planned time, for instance if a receiver asked for too long a wait with `Retry-After`. ' +
      'It counts as one of the 21; if it fails, the next wait follows. The response says what happens next, without waiting for the attempt. No body.',
    message: 'Attempt 2 of 21 follows at once.',
    conflict:
      'the delivery has ended, is held (its webhook is inactive or paused, or an operator holds it or has paused it in Temporal), waits for another delivery, or an attempt is in progress. The message says which.',
  },
  {
    path: '/deliveries/:id/give-up',
    id: 'giveUpDelivery',
    action: 'giveUp',
    summary: 'Give up on a delivery',
    description:
      'Ends an open delivery as `canceled`, `canceledBy` `user`: nothing more is sent. The webhook stays as it is, and no e-mail is sent. An attempt under way is allowed to finish. ' +
      'It can be redelivered or recovered later. No body.',
    message: 'Given up.',
    conflict: 'the delivery has ended, or an operator has paused it in Temporal.',
  },
] as const;

/** The paths of the actions: such a request waits for a worker, and takes no turn while it does. */
export const DELIVERY_ACTION_PATHS = actions.map(({ path }) => `/v21${path}`);

/** Why nothing can be requested where no Temporal server is known. */
export const NO_TEMPORAL = 'The request cannot be passed on: no Temporal server is known here.';
const AT_ONCE = { total: 50, perKey: 8 };
const QUEUE_TIMEOUT_MS = 15_000;
/** How long the response waits for the end of a delivery that was given up; a busy worker may take longer. */
const END_MS = 2_000;
const LOOK_AGAIN_MS = 50;

/** @param turn of the budget: for database access */
export function deliveryActionRoutes(
  app: Hono<ApiEnv>,
  { sql, requestAction, log }: Pick<ApiDeps, 'sql' | 'requestAction' | 'log'>,
  turn: Turns['run'],
): void {
  const places = createPlaces(
    AT_ONCE,
    `At most ${AT_ONCE.perKey} such requests of an e-shop run at the same time; wait for a response.`,
    QUEUE_TIMEOUT_MS,
  );

  /** @throws Problem (404) */
  async function findFull(eshopId: number, id: string) {
    return orNotFound('delivery', id, await turn(eshopId, () => findDelivery(sql, eshopId, id)));
  }

  async function foundEnded(eshopId: number, id: string) {
    const end = performance.now() + END_MS;
    for (;;) {
      const delivery = await findFull(eshopId, id);
      if (delivery.delivery.finishedAt !== null || performance.now() >= end) return delivery;
      await pause(LOOK_AGAIN_MS);
    }
  }

  for (const { path, action, conflict: when, ...operation } of actions) {
    const errors = { 404: noSuchDelivery, 409: when };
    app.post(
      path,
      describeOperation(tag, { ...operation, data: DeliveryWithAttempts, errors }),
      params({ id: deliveryId }),
      async (c) => {
        const { eshopId, role, username } = c.get('session');
        const asker = askedBy(role, username);
        const { id } = c.req.valid('param');
        // The workflow itself does not check who owns the delivery.
        await findFull(eshopId, id);
        if (requestAction === null) throw new Problem(503, NO_TEMPORAL);
        const answer = await places.run(eshopId, () => requestAction(action, id, { ...asker, reason: '' }));
        if (answer.forOperators !== undefined)
          log.warn({ deliveryId: id, action }, `operator action: ${answer.forOperators}`);
        if (answer.unanswered === true) throw new Problem(503, answer.message);
        if (!answer.accepted) throw conflict(answer.message);
        const after = await (action === 'giveUp' ? foundEnded : findFull)(eshopId, id);
        return ok(c, answer.message, fullRecordOf(after));
      },
    );
  }
}
