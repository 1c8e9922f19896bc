/** The request for a recovery, and a recovery as shown in the API (docs/interface.md, L10–L12). */
import * as v from 'valibot';
import type { RecoveryRow } from '../../db/recoveries/recoveries.ts';
import { component, described, oneOf, recordNumber, time, uuid, wholeNumber } from '../../domain/fields.ts';
import { list } from '../../domain/list.ts';
import {
  estimatedDurationMs,
  type MeasuredPace,
  recoverable,
  recoveryStates,
} from '../../domain/recovery.ts';
import { recoveryProgress } from '../../domain/recovery-progress.ts';
import { timestamp } from '../../domain/timestamp.ts';

export const recoverInput = v.pipe(
  v.strictObject({
    since: described(
      v.optional(timestamp()),
      'Default: the last deactivation of the webhook. Deliveries that failed or expired may have begun up to 48 hours earlier. Required if it was never deactivated.',
    ),
    until: v.nullish(timestamp(), null),
    include: v.optional(
      v.pipe(
        list(oneOf(recoverable), recoverable.length),
        v.minLength(1, 'must name at least one'),
        v.description(
          'The outcome of an event at this webhook, by its latest delivery there. `missed`: it has none, because the webhook was inactive or did not exist when ' +
            'the event of its type happened. An event that was eventually delivered, or is still being delivered, is never recovered. Default: `failed`, `expired` and `missed`, since the creation of the webhook.',
        ),
        // Without repetitions and in a fixed order, so that equal requests mean the same recovery.
        v.transform((names) => recoverable.filter((name) => names.includes(name))),
      ),
    ),
    dryRun: v.optional(
      described(
        v.boolean('must be true or false'),
        'If true, events are only counted, and nothing is recovered. Works for an inactive webhook, too.',
      ),
      false,
    ),
  }),
  v.metadata({ ref: 'RecoverInput' }),
);

const shared = {
  webhookId: recordNumber(),
  since: time(),
  until: time(),
  include: v.array(v.picklist(recoverable)),
  count: described(wholeNumber(), 'Events to recover, as of the request.'),
  first: described(v.nullable(time()), 'When the first of them happened; null if there are none.'),
  last: described(v.nullable(time()), 'When the last of them happened.'),
};
const recoveryId = uuid();

export const recoverAnswer = component('RecoverAnswer', {
  recoveryId: described(v.nullable(recoveryId), 'Null for a dry run.'),
  ...shared,
  estimatedDurationMs: described(
    wholeNumber(),
    'How long it is expected to take, estimated from the recent pace of the receiver.',
  ),
});

export const recoveryRecord = component('Recovery', {
  recoveryId,
  ...shared,
  state: described(
    v.picklist(recoveryStates),
    '`running`; `paused`, on request or while the webhook is inactive or paused; `completed`: all of its deliveries have ended; `canceled`.',
  ),
  reason: described(
    v.nullable(v.string()),
    'Why it is paused or was canceled, or what it waits for before it ends, as a sentence; otherwise null.',
  ),
  done: described(wholeNumber(), 'Delivered.'),
  failed: described(wholeNumber(), 'Failed, expired or canceled again. A later recovery can include them.'),
  superseded: described(
    wholeNumber(),
    'Not sent any more: a newer event of the same record took its place (`ordering: latest`).',
  ),
  left: described(wholeNumber(), 'Not delivered yet: in progress, being retried, or not started.'),
  createdAt: time(),
  estimatedEndAt: described(
    v.nullable(time()),
    'Estimated from the pace at which the receiver accepts deliveries; if only retries are left, the time of the last one. Null unless it is running.',
  ),
  finishedAt: v.nullable(time()),
});

export function recoveryOf(row: RecoveryRow, measured: MeasuredPace): v.InferOutput<typeof recoveryRecord> {
  const { created, open, rate, exhausted, estimatedEndAt, ...progress } = recoveryProgress(row);
  const supposed = new Date(row.now.getTime() + estimatedDurationMs(progress.left, measured));
  return {
    recoveryId: row.id,
    webhookId: row.webhookId,
    since: row.since.toISOString(),
    until: row.until.toISOString(),
    include: [...row.include],
    count: row.found,
    first: row.firstAt?.toISOString() ?? null,
    last: row.lastAt?.toISOString() ?? null,
    ...progress,
    createdAt: row.createdAt.toISOString(),
    estimatedEndAt: progress.state === 'running' ? (estimatedEndAt ?? supposed).toISOString() : null,
    finishedAt: row.finishedAt?.toISOString() ?? null,
  };
}
