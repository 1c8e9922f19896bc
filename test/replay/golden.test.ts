/** Replay ignores retry policies and time-outs: here they are compared with histories and docs/interface.md, D6. */
import { readdirSync, readFileSync } from 'node:fs';
import { isDeepStrictEqual } from 'node:util';
import { defaultPayloadConverter } from '@temporalio/common';
import { historyFromJSON } from '@temporalio/common/lib/proto-utils.js';
import { msToNumber } from '@temporalio/common/lib/time.js';
import type { ActivityOptions } from '@temporalio/workflow';
import { describe, expect, test } from 'vitest';
import { defaultRetryPolicy } from '../../src/domain/retry-policy.ts';
import {
  attemptOptions,
  lastChanceOptions,
  mailOptions,
  ownStepOptions,
} from '../../workflows/delivery-options.ts';
import { type AttemptInput, type DeliverEventInput, stepsQueue } from '../../workflows/delivery-types.ts';
import { retentionOptions } from '../../workflows/retention-types.ts';

const folder = new URL('./histories/', import.meta.url);
const HOUR = 3_600_000;
const input: DeliverEventInput = {
  deliveryId: '01990000-0000-7000-8000-000000000000',
  eshopId: 1,
  webhookId: 7,
  eventType: 'CREATE_ORDER',
  entityId: '10001',
  attemptsMade: 0,
  policy: defaultRetryPolicy,
};

test('the default policy makes 20 retries from 25 s on, each by half longer, with no cap below the 48-hour window', () => {
  expect(attemptOptions(input, 0, 48 * HOUR)).toMatchObject({
    startToCloseTimeout: 35_000,
    heartbeatTimeout: 5_000,
    scheduleToCloseTimeout: 48 * HOUR + 45_000,
    retry: {
      initialInterval: 25_000,
      backoffCoefficient: 1.5,
      maximumInterval: 48 * HOUR,
      maximumAttempts: 21,
      nonRetryableErrorTypes: ['TemporalTimeout:Heartbeat', 'TemporalTimeout:StartToClose'],
    },
  });
});

test('the policy continues after some attempts where it stopped', () => {
  expect(attemptOptions(input, 3, 40 * HOUR)).toMatchObject({
    scheduleToCloseTimeout: 40 * HOUR + 45_000,
    retry: { initialInterval: 84_375, maximumInterval: 48 * HOUR, maximumAttempts: 18 },
  });
});

type Duration = { seconds?: unknown; nanos?: number | null } | null | undefined;
function ms(duration: Duration): number {
  return Number(duration?.seconds ?? 0) * 1_000 + (duration?.nanos ?? 0) / 1_000_000;
}

interface Recorded {
  readonly type: string;
  readonly input: unknown;
  readonly options: Record<string, unknown>;
  readonly scheduleToClose: number;
}

function recordedOf(file: string): {
  workflowInput: DeliverEventInput;
  activities: Recorded[];
} {
  const { events } = historyFromJSON(JSON.parse(readFileSync(new URL(file, folder), 'utf8')));
  /** The input of the retention, and of its activity, is none. */
  const decode = (payloads?: { payloads?: unknown[] | null } | null): never => {
    const [payload] = payloads?.payloads ?? [];
    return (payload === undefined ? {} : defaultPayloadConverter.fromPayload(payload as never)) as never;
  };
  const started = events?.[0]?.workflowExecutionStartedEventAttributes;
  const queue = started?.taskQueue?.name ?? '';
  const activities = (events ?? []).flatMap((event) => {
    const scheduled = event.activityTaskScheduledEventAttributes;
    if (!scheduled) return [];
    const { retryPolicy } = scheduled;
    const type = scheduled.activityType?.name ?? '';
    expect(scheduled.taskQueue?.name).toBe(type === 'attemptDelivery' ? queue : stepsQueue(queue));
    return [
      {
        type,
        input: decode(scheduled.input) as unknown,
        scheduleToClose: ms(scheduled.scheduleToCloseTimeout),
        options: {
          startToCloseTimeout: ms(scheduled.startToCloseTimeout),
          heartbeatTimeout: ms(scheduled.heartbeatTimeout),
          initialInterval: ms(retryPolicy?.initialInterval),
          backoffCoefficient: retryPolicy?.backoffCoefficient,
          maximumInterval: ms(retryPolicy?.maximumInterval),
          maximumAttempts: retryPolicy?.maximumAttempts ?? 0,
          nonRetryableErrorTypes: retryPolicy?.nonRetryableErrorTypes ?? [],
        },
      },
    ];
  });
  return { workflowInput: decode(started?.input), activities };
}

function flat(options: ActivityOptions): Record<string, unknown> {
  const { retry } = options;
  return {
    startToCloseTimeout: msToNumber(options.startToCloseTimeout ?? 0),
    heartbeatTimeout: msToNumber(options.heartbeatTimeout ?? 0),
    initialInterval: msToNumber(retry?.initialInterval ?? 0),
    backoffCoefficient: retry?.backoffCoefficient,
    maximumInterval: msToNumber(retry?.maximumInterval ?? 0),
    maximumAttempts: retry?.maximumAttempts ?? 0,
    nonRetryableErrorTypes: retry?.nonRetryableErrorTypes ?? [],
  };
}

function optionsToday({ type, input }: Recorded, delivery: DeliverEventInput): ActivityOptions {
  if (type === 'mailDeactivation' || type === 'deliverNotice') return mailOptions;
  if (type === 'retain') return retentionOptions;
  if (type !== 'attemptDelivery') return ownStepOptions;
  const { attemptsBefore, lastChance } = input as AttemptInput;
  return lastChance
    ? lastChanceOptions(delivery)
    : attemptOptions(delivery, attemptsBefore, delivery.policy.windowMs);
}

/**
 * What the options of an activity were in an earlier release, by its type, where they differ from today's:
 * `{ mailDeactivation: [() => ({ startToCloseTimeout: 60_000 })] }`. The histories of a release cannot be recorded
 * again.
 */
const FORMER: Readonly<Record<string, readonly ((delivery: DeliverEventInput) => object)[]>> = {};

describe.each(readdirSync(folder).filter((file) => file.endsWith('.json')))('%s', (file) => {
  const { workflowInput, activities } = recordedOf(file);
  test('belongs to a workflow', () => expect(workflowInput).toBeDefined());
  test.each(activities.map((activity, index) => [index + 1, activity] as const))(
    'activity %i was scheduled as the present code or an earlier release would',
    (_, activity) => {
      const today = flat(optionsToday(activity, workflowInput));
      const former = (FORMER[activity.type] ?? []).map((of) => ({ ...today, ...of(workflowInput) }));
      const same = former.find((options) => isDeepStrictEqual(options, activity.options));
      expect(activity.options).toEqual(same ?? today);
      const { policy } = workflowInput;
      if (activity.type !== 'attemptDelivery' || (activity.input as AttemptInput).lastChance) return;
      const bound = policy.windowMs + policy.attemptTimeoutMs + 30_000;
      expect(activity.scheduleToClose).toBeLessThanOrEqual(bound);
    },
  );
});
