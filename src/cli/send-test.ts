/** Sends samples to a webhook from this process: one test, or the requests of an examination. */
import { configuredSender } from '../app/outgoing.ts';
import { createExaminer } from '../attempt/examiner.ts';
import { signersOf } from '../attempt/prepare.ts';
import { createTestSender } from '../attempt/test-sender.ts';
import type { Pool } from '../db/connection/pool.ts';
import { eshopOf } from '../db/console/eshops.ts';
import { beginExamination, endExamination } from '../db/webhooks/examinations.ts';
import { findWebhookWithSecrets } from '../db/webhooks/with-secrets.ts';
import type { Sender } from '../delivery/sender.ts';
import type { EventType } from '../domain/event-types.ts';
import type { Examination } from '../domain/examination.ts';
import { asOfType, type TestDeliveryResult, type WebhookWithSecrets } from '../domain/test-delivery.ts';
import { UserError } from '../lib/user-error.ts';
import type { Keys } from '../secrets/keys.ts';
import { INCONCLUSIVE } from './exit-codes.ts';
import { withDatabase } from './open-database.ts';
import { noSuchWebhook, throwUserError } from './options.ts';
import { ownParts } from './own-parts.ts';

type Env = Readonly<Record<string, string | undefined>>;

interface Parts {
  readonly sql: Pool;
  readonly sender: Sender;
  readonly keys: Keys;
  readonly webhook: WebhookWithSecrets;
  /** The time-out of one request, in milliseconds. */
  readonly timeoutMs: number;
}

/** The webhook, and the type of which samples are sent; undefined for its `webhookType`. */
interface Tested {
  readonly id: number;
  readonly type: EventType | undefined;
}

/** @throws UserError if there is no such webhook, it has no such type, or its secret cannot be opened */
async function toWebhook<T>(env: Env, { id, type }: Tested, work: (parts: Parts) => Promise<T>): Promise<T> {
  const { config, own, keys } = await ownParts(env);
  return await withDatabase(config.settings, async (sql) => {
    const eshopId = await eshopOf(sql, 'webhooks', String(id));
    const found = eshopId === null ? null : await findWebhookWithSecrets(sql, eshopId, id);
    if (found === null) throw noSuchWebhook(id);
    const webhook = asOfType(found, type);
    const timeoutMs = config.retryPolicy.attemptTimeoutMs;
    const known = await keys(sql);
    try {
      signersOf(known, webhook);
    } catch {
      throw new UserError(
        `The secret of webhook ${id} cannot be opened: add the key that sealed it to SECRET_KEY_PREVIOUS, or regenerate the secret.`,
      );
    }
    const sender = configuredSender(config, own);
    try {
      return await work({ sql, sender, keys: known, webhook, timeoutMs });
    } finally {
      await sender.close();
    }
  }).catch(throwUserError);
}

/** @throws UserError if there is no such webhook, it has no such type, or its secret cannot be opened */
export const sendTestTo = (env: Env, tested: Tested): Promise<TestDeliveryResult> =>
  toWebhook(env, tested, ({ webhook, ...parts }) => createTestSender(parts)(webhook));

/** @throws UserError likewise, and if one is under way, or too many were made recently; the reason of `signal` */
export const examineReceiverOf = (env: Env, tested: Tested, signal: AbortSignal): Promise<Examination> =>
  toWebhook(env, tested, async ({ sql, webhook, ...parts }) => {
    const { id } = tested;
    const until = await beginExamination(sql, id);
    try {
      return await createExaminer(parts)(webhook, signal).catch((error: unknown) =>
        throwUserError(error, INCONCLUSIVE),
      );
    } finally {
      await endExamination(sql, id, until);
    }
  });
