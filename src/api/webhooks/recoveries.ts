/** Recoveries of a webhook: requested, read, paused, resumed and canceled (docs/interface.md, L10–L12). */
import type { Hono } from 'hono';
import {
  beginRecovery,
  controlRecovery,
  countRecoveries,
  countRecovery,
  findRecovery,
  listRecoveries,
  measuredPace,
  type RecoveryRow,
} from '../../db/recoveries/recoveries.ts';
import type { Database } from '../../db/transaction.ts';
import { findWebhook, type WebhookRow } from '../../db/webhooks/webhooks.ts';
import { described, uuid } from '../../domain/fields.ts';
import { badRequest, conflict, invalid, orNotFound, type Problem } from '../../domain/problem.ts';
import {
  estimatedDurationMs,
  isUnderWay,
  type RecoveryAction,
  recoveryActions,
  recoveryOfWebhook,
} from '../../domain/recovery.ts';
import { dateOf } from '../../domain/timestamp.ts';
import { createPlaces } from '../budget/places.ts';
import type { ApiDeps, ApiEnv } from '../deps.ts';
import { type Action, describeOperation } from '../describe.ts';
import { ok } from '../envelope.ts';
import { idempotent } from '../idempotency.ts';
import { pageOf, pageQuery, paginationOf } from '../pagination.ts';
import { body, params, query } from '../validate.ts';
import { noSuchWebhook, webhookId } from './record.ts';
import { recoverAnswer, recoverInput, recoveryOf, recoveryRecord } from './recovery-record.ts';

const tag = 'Recoveries';
const noSuchRecovery = 'the webhook or the recovery does not exist, or belongs to another e-shop.';
const recoveryId = described(uuid(), 'UUIDv7, as `recover` returned it.');

const controls: Readonly<Record<RecoveryAction, Omit<Action, 'name' | 'conflict'>>> = {
  pause: {
    summary: 'Pause a recovery',
    description:
      'It creates no further deliveries, and the first attempts of those that it has created wait; retries continue. Pausing a paused recovery changes nothing.',
    message: 'Recovery paused.',
  },
  resume: {
    summary: 'Resume a recovery',
    description:
      'Continues where it was paused. Resuming a running recovery changes nothing. If it is paused because its webhook is inactive, activate the webhook instead.',
    message: 'Recovery resumed.',
  },
  cancel: {
    summary: 'Cancel a recovery',
    description:
      'It creates no further deliveries, and cannot be resumed; the deliveries that it has already created are still made. Canceling a canceled recovery changes nothing.',
    message: 'Recovery canceled.',
  },
};

const MESSAGES = {
  counted: 'Nothing was recovered: a dry run.',
  begun: 'Recovery started.',
  known: 'This recovery is under way.',
} as const;

function inactive(id: number): Problem {
  return badRequest(`Webhook ${id} is inactive. Activate it first.`);
}

/**
 * Begins or counts a recovery: it may read very many events, so it takes no turn of the budget but a place of its
 * own.
 */
export const RECOVER_PATH = '/v21/webhooks/:id/recover';
/** One at a time per e-shop, so that a few with very many events leave the database to the others. */
const COUNTED_AT_ONCE = { total: 4, perKey: 1 } as const;

export function recoveryRoutes(app: Hono<ApiEnv>, deps: ApiDeps): void {
  const { sql } = deps;
  const places = createPlaces(
    COUNTED_AT_ONCE,
    'The events of another recovery are being counted; wait for its response.',
  );

  async function foundWebhook(eshopId: number, id: number, from: Database = sql): Promise<WebhookRow> {
    return orNotFound('webhook', id, await findWebhook(from, eshopId, id));
  }

  async function foundRecovery(eshopId: number, id: number, recoveryId: string): Promise<RecoveryRow> {
    await foundWebhook(eshopId, id);
    return orNotFound(
      'recovery',
      recoveryId,
      await findRecovery(sql, { eshopId, webhookId: id, recoveryId }),
    );
  }

  const recordWithPace = async (row: RecoveryRow) => recoveryOf(row, await measuredPace(sql, row.webhookId));

  app.post(
    '/webhooks/:id/recover',
    describeOperation(tag, {
      id: 'startRecovery',
      summary: 'Recover events that a webhook did not get',
      description:
        'Delivers the events that this webhook did not get in a given period: those of `failed`, `expired` and `canceled` deliveries, and, if requested, ' +
        'those that it `missed` because it was inactive or did not exist. The period refers to the time of the events: from `since` on and before `until`, which is ' +
        'now by default and at the latest. By default the period begins with the last deactivation. The deliveries that led to it are of older events: a ' +
        '`since` 48 hours earlier includes them. Try it with `dryRun` first.\n\n' +
        'Each event becomes a new delivery, with its own identifier, retries and 48 hours. A recovery runs on its own, however many events there are: it ' +
        'adapts to the pace of the receiver, and gives way to new events. The same request while the recovery is running returns that recovery. ' +
        'Events delivered in the meantime are not delivered again.',
      data: recoverAnswer,
      message: 'Recovery started.',
      errors: {
        400: 'the webhook is inactive, or the body is invalid.',
        404: noSuchWebhook,
        409: 'another recovery of the webhook is still looking for its events.',
      },
    }),
    params({ id: webhookId }),
    body(recoverInput),
    (c, next) => places.run(c.get('session').eshopId, next),
    idempotent(deps),
    async (c) => {
      const connection = c.get('sql') ?? sql;
      const { eshopId } = c.get('session');
      const { id } = c.req.valid('param');
      const body = c.req.valid('json');
      const webhook = await foundWebhook(eshopId, id, connection);
      if (!body.dryRun && !webhook.active) throw inactive(id);
      const asked = dateOf(body.since);
      const search = recoveryOfWebhook({ since: asked, include: body.include }, webhook);
      if (search === null)
        throw invalid([{ path: 'since', message: 'is required: the webhook has never been deactivated' }]);
      const { since, include } = search;
      if (since > c.get('clock').now())
        throw invalid([{ path: 'since', message: 'must not be in the future' }]);
      const until = body.until === null ? null : new Date(body.until);
      if (until !== null && until <= since) {
        const isBeforeWebhook = asked !== undefined && until > asked;
        const message = isBeforeWebhook
          ? 'must be later than the creation of the webhook: earlier events are recovered only with include'
          : 'must be later than since';
        throw invalid([{ path: 'until', message }]);
      }
      const input = { eshopId, webhookId: id, since, until, include };
      const done = body.dryRun
        ? await countRecovery(connection, input)
        : await beginRecovery(connection, input);
      if (done.kind === 'busy') {
        throw conflict(
          `Recovery ${done.recoveryId} of this webhook is still looking for its events. Wait for it, or cancel it.`,
        );
      }
      const { recoveryId, found, until: ends } = done;
      return ok(c, MESSAGES[done.kind], {
        recoveryId,
        webhookId: id,
        since: since.toISOString(),
        until: ends.toISOString(),
        include,
        count: found.count,
        first: found.firstAt?.toISOString() ?? null,
        last: found.lastAt?.toISOString() ?? null,
        estimatedDurationMs: estimatedDurationMs(found.count, await measuredPace(connection, id)),
      });
    },
  );

  app.get(
    '/webhooks/:id/recoveries',
    describeOperation(tag, {
      id: 'listRecoveries',
      summary: "List a webhook's recoveries",
      description: 'Newest first, in whatever state.',
      data: recoveryRecord,
      list: true,
      message: 'Recoveries found.',
      errors: { 404: noSuchWebhook },
    }),
    params({ id: webhookId }),
    query(pageQuery),
    async (c) => {
      const { id } = c.req.valid('param');
      await foundWebhook(c.get('session').eshopId, id);
      const page = pageOf(c.req.valid('query'));
      const [rows, count, pace] = await Promise.all([
        listRecoveries(sql, id, page.limit, page.offset),
        countRecoveries(sql, id),
        measuredPace(sql, id),
      ]);
      const records = rows.map((row) => recoveryOf(row, pace));
      return ok(c, 'Recoveries found.', records, { pagination: paginationOf(page, count) });
    },
  );

  app.get(
    '/webhooks/:id/recoveries/:recoveryId',
    describeOperation(tag, {
      id: 'getRecovery',
      summary: 'Read a recovery',
      description: 'Its progress, and when it is expected to end.',
      data: recoveryRecord,
      message: 'Recovery found.',
      errors: { 404: noSuchRecovery },
    }),
    params({ id: webhookId, recoveryId }),
    async (c) => {
      const { id, recoveryId } = c.req.valid('param');
      const found = await foundRecovery(c.get('session').eshopId, id, recoveryId);
      return ok(c, 'Recovery found.', await recordWithPace(found));
    },
  );

  for (const action of recoveryActions) {
    const operation = controls[action];
    app.post(
      `/webhooks/:id/recoveries/:recoveryId/${action}`,
      describeOperation(tag, {
        ...operation,
        id: `${action}Recovery`,
        data: recoveryRecord,
        errors: {
          400: action === 'resume' ? 'the webhook is inactive, or a parameter is invalid.' : undefined,
          404: noSuchRecovery,
          409: 'the recovery has ended.',
        },
      }),
      params({ id: webhookId, recoveryId }),
      async (c) => {
        const { eshopId } = c.get('session');
        const { id, recoveryId } = c.req.valid('param');
        const before = await foundRecovery(eshopId, id, recoveryId);
        if (action === 'resume' && isUnderWay(before.state) && before.webhookInactive) throw inactive(id);
        if (!(await controlRecovery(sql, recoveryId, action, { by: 'user' }))) {
          const { state } = await foundRecovery(eshopId, id, recoveryId);
          throw conflict(`Recovery ${recoveryId} is ${state}: there is nothing to ${action}.`);
        }
        return ok(c, operation.message, await recordWithPace(await foundRecovery(eshopId, id, recoveryId)));
      },
    );
  }
}
