/** A relay with a Temporal that records its calls and fails when the test says so. */
import pino, { type Logger } from 'pino';
import { onTestFinished } from 'vitest';
import type { Limits } from '../../../src/concurrency/limits.ts';
import { type SchedulerOptions, schedulerDefaults } from '../../../src/concurrency/settings.ts';
import { createStarts } from '../../../src/concurrency/starts.ts';
import { throughSessions } from '../../../src/db/connection/through-sessions.ts';
import { transaction } from '../../../src/db/transaction.ts';
import { defaultRetryPolicy } from '../../../src/domain/retry-policy.ts';
import type { MakeQueueAttempt, RelayOptions } from '../../../src/relay/deps.ts';
import { startRelay } from '../../../src/relay/relay.ts';
import type { Dispatcher } from '../../../src/temporal/dispatcher.ts';
import { recordEvent } from '../database/record-event.ts';
import { boundless } from '../limits.ts';
import { unwatched } from '../unwatched.ts';
import type { DeliveryStack } from './delivery-stack.ts';

interface RelayToOptions {
  readonly scheduler?: Partial<SchedulerOptions>;
  /** Default: no attempt is made, and the delivery's workflow has to decide. */
  readonly makeAttempt?: MakeQueueAttempt;
  readonly onTemporal?: RelayOptions['onTemporal'];
  readonly onPass?: RelayOptions['onPass'];
  readonly isDiskFull?: () => boolean;
  /** Default: everything may be claimed and attempted at once. */
  readonly limits?: Limits;
  /** Default: silent. */
  readonly log?: Logger;
}

/**
 * It stops with the test.
 * @param failing called before each call: it may throw, or wait, as Temporal would
 */
export function relayTo(
  stack: Pick<DeliveryStack, 'sql'>,
  failing: Partial<Dispatcher> = {},
  {
    scheduler = {},
    makeAttempt = async () => ({ kind: 'notAttempted', reason: 'spent' }),
    onTemporal = () => {},
    onPass = () => {},
    isDiskFull = () => false,
    limits = boundless,
    log = pino({ level: 'silent' }),
  }: RelayToOptions = {},
) {
  const options = { ...schedulerDefaults, tickMs: 50, ...scheduler };
  const starts = createStarts(options);
  const started: string[] = [];
  const signaled: string[] = [];
  const dispatcher: Dispatcher = {
    async startDelivery(delivery, last) {
      await failing.startDelivery?.(delivery, last);
      started.push(delivery.id);
    },
    async signalWebhookChanged(delivery) {
      await failing.signalWebhookChanged?.(delivery);
      signaled.push(delivery.id);
    },
    async signalAttemptFailed() {},
    async signalReleaseChanged(eshopId, id) {
      await failing.signalReleaseChanged?.(eshopId, id);
      signaled.push(id);
    },
  };
  const relay = startRelay({
    sql: stack.sql,
    sessionSql: stack.sql,
    execute: throughSessions(stack.sql, null),
    policy: defaultRetryPolicy,
    makeAttempt,
    dispatcher,
    recoveries: { async signalRecoveryChanged() {} },
    async startNotice() {},
    workflows: 'all',
    isDiskFull,
    limits,
    starts,
    options,
    log,
    onTemporal,
    onPass,
    onClaim() {},
    watch: unwatched,
  });
  onTestFinished(() => relay.stop());
  return { relay, started, signaled, starts };
}

/** Fires many events in a single transaction. */
export async function fireMany(
  stack: Pick<DeliveryStack, 'sql' | 'eshopId'>,
  count: number,
  eshopId = stack.eshopId,
): Promise<void> {
  await transaction(stack.sql, async (tx) => {
    for (let index = 0; index < count; index += 1) {
      const entityId = `order ${index}`;
      await recordEvent(tx, {
        eshopId,
        type: 'CREATE_ORDER',
        entityId,
        record: { eshopOrderId: entityId },
      });
    }
  });
}
