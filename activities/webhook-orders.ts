/** Operators' orders for webhooks, given by starting a workflow; carried out by the functions of the command `waybill`. */
import type { Logger } from 'pino';
import * as v from 'valibot';
import type { Pool } from '../src/db/pool.ts';
import { askForRecovery, type RecoveryAnswer } from '../src/db/recoveries/ask.ts';
import { eshopOfWebhook, switchWebhook } from '../src/db/webhooks/all-webhooks.ts';
import { findWebhookWithSecrets } from '../src/db/webhooks/with-secrets.ts';
import { MAX_NAME_CHARS, MAX_REASON_CHARS, UNNAMED_OPERATOR } from '../src/domain/operator-action.ts';
import { recoverable } from '../src/domain/recovery.ts';
import type { SendTest, TestDeliveryResult } from '../src/domain/test-delivery.ts';
import { counted } from '../src/domain/words.ts';
import type { WebhookOrderActivities, WebhookOrderAnswer } from '../workflows/webhook-order-types.ts';

export interface WebhookOrdersDeps {
  readonly sql: Pool;
  readonly log: Logger;
  readonly sendTest: SendTest;
}

const time = v.pipe(
  v.string('must be a time such as "2026-11-20T19:33:00Z"'),
  v.check((text) => !Number.isNaN(Date.parse(text)), 'must be a time such as "2026-11-20T19:33:00Z"'),
  v.transform((text) => new Date(text)),
);
const text = (most: number) =>
  v.optional(v.pipe(v.string('must be a text'), v.maxLength(most, `may have at most ${most} characters`)));
const orderEntries = {
  webhookId: v.pipe(
    v.number('must be a number'),
    v.integer('must be a whole number'),
    v.minValue(1, 'must be at least 1'),
  ),
  reason: text(MAX_REASON_CHARS),
  by: text(MAX_NAME_CHARS),
};
const recoverEntries = {
  since: v.pipe(
    time,
    v.check((since) => since.getTime() <= Date.now(), 'must not be in the future'),
  ),
  until: v.optional(time),
  include: v.optional(
    v.array(v.picklist(recoverable, `must be one of ${recoverable.join(', ')}`), 'must be a list'),
    // Events not sent while it was inactive, and deliveries that led to its deactivation.
    ['failed', 'expired', 'missed'],
  ),
  dryRun: v.optional(v.boolean('must be true or false'), false),
};

const orderSchema = v.strictObject(orderEntries, 'must be an object');
const recoverSchema = v.pipe(
  v.strictObject({ ...orderEntries, ...recoverEntries }, 'must be an object'),
  v.forward(
    v.check(({ since, until }) => until === undefined || since < until, 'must be later than since'),
    ['until'],
  ),
);
const TAKES = 'Takes {"webhookId": 7, "reason": "…", "by": "…"}, the latter two optional';
const RECOVERY_TAKES =
  'Takes {"webhookId": 7, "since": "2026-11-20T19:33:00Z"}; optional are "until", "include", "dryRun", "reason" and "by"';

const refused = (sentence: string): WebhookOrderAnswer => ({ accepted: false, sentence });
const noSuchWebhook = (id: number) => refused(`There is no webhook ${id}, or it is deleted.`);

export function createWebhookOrders({ sql, log, sendTest }: WebhookOrdersDeps): WebhookOrderActivities {
  /** Checks the input, carries the order out, and logs it with the person who asked. */
  async function carryOut<S extends typeof orderSchema | typeof recoverSchema>(
    what: string,
    takes: string,
    schema: S,
    typed: unknown,
    work: (order: v.InferOutput<S>) => Promise<WebhookOrderAnswer>,
  ): Promise<WebhookOrderAnswer> {
    const read = v.safeParse(schema, typed);
    if (!read.success) {
      const [{ message, path }] = read.issues;
      const where = path?.map(({ key }) => String(key)).join('.') ?? 'the input';
      const unknown = read.issues[0].type === 'strict_object' && path !== undefined;
      return refused(`${takes}: ${where} ${unknown ? 'is missing, or not known' : message}.`);
    }
    const { webhookId, reason = '', by = UNNAMED_OPERATOR } = read.output;
    const answer = await work(read.output);
    const { accepted, sentence } = answer;
    log.info({ webhookId, by, reason, accepted, sentence }, `an operator ${what} a webhook`);
    return answer;
  }

  return {
    activateWebhook: (typed) =>
      carryOut('activates', TAKES, orderSchema, typed, async ({ webhookId }) => {
        const changed = await switchWebhook(sql, webhookId, true);
        if (changed === null) return noSuchWebhook(webhookId);
        const done = changed
          ? 'is active: held deliveries continue'
          : 'is already active: nothing was changed';
        return { accepted: true, sentence: `Webhook ${webhookId} ${done}.`, webhookId };
      }),

    testWebhook: (typed) =>
      carryOut('tests', TAKES, orderSchema, typed, async ({ webhookId }) => {
        const eshopId = await eshopOfWebhook(sql, webhookId);
        const webhook = eshopId === null ? null : await findWebhookWithSecrets(sql, eshopId, webhookId);
        if (webhook === null) return noSuchWebhook(webhookId);
        const sentence = `Webhook ${webhookId}: ${outcomeOf(await sendTest(webhook))}`;
        return { accepted: true, sentence, webhookId };
      }),

    recoverMissed: (typed) =>
      carryOut('recovers', RECOVERY_TAKES, recoverSchema, typed, async (order) => {
        const { webhookId, since, until = null, include, dryRun } = order;
        const wanted = recoverable.filter((kind) => include.includes(kind));
        const answer = await askForRecovery(sql, webhookId, { since, until, include: wanted, dryRun });
        return recoveryAnswer(webhookId, answer);
      }),
  };
}

/** Only the status of request and response: histories hold no customer data. */
function outcomeOf({ outcome, response, durationMs, error }: TestDeliveryResult): string {
  if (outcome === 'success')
    return `the receiver accepted the test (HTTP ${response?.status}, ${durationMs} ms).`;
  if (outcome === 'inconclusive') return `the test says nothing about the receiver: ${error}. Try again.`;
  return `the receiver failed the test: ${error}.`;
}

function recoveryAnswer(webhookId: number, answer: RecoveryAnswer): WebhookOrderAnswer {
  switch (answer.kind) {
    case 'notFound':
      return noSuchWebhook(webhookId);
    case 'inactive':
      return refused(`Webhook ${webhookId} is inactive: start activateWebhook with it first.`);
    case 'since':
      return refused(`Webhook ${webhookId} has never been deactivated: say since when.`);
    case 'busy':
      return refused(
        `Another recovery of webhook ${webhookId} is still looking for its events: wait for recovery/${answer.recoveryId}, or send it the update "cancel".`,
      );
    default: {
      const { kind, recoveryId, found, estimatedDurationMs: ms } = answer;
      const { count, firstAt, lastAt } = found;
      const when =
        firstAt === null || lastAt === null
          ? ''
          : `, from ${firstAt.toISOString()} to ${lastAt.toISOString()}`;
      const extent = `${counted(count, 'event')}${when}${count === 0 ? '' : `, in about ${Math.ceil(ms / 1_000)} s`}`;
      if (recoveryId === null) {
        return { accepted: true, sentence: `To be recovered: ${extent}. Nothing was begun.`, webhookId };
      }
      const verb = kind === 'known' ? 'is under way' : 'has begun';
      const sentence = `The recovery of ${extent}, ${verb}: the workflow recovery/${recoveryId} shows how far it is.`;
      return { accepted: true, sentence, webhookId, recoveryId };
    }
  }
}
