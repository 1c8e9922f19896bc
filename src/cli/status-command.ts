/** `waybill status`: the state of the instance, and problems that need attention. */
import type { Command } from 'commander';
import { readSettings } from '../config/config.ts';
import type { FoundLoop } from '../db/console/change-loop.ts';
import type { NoticesOverview } from '../db/notices/overview.ts';
import { queueClasses } from '../db/overdue.ts';
import type { FlowOverview } from '../db/overview.ts';
import { keeperOfDeadRows, openTransaction } from '../domain/database-session.ts';
import { duration } from '../domain/duration.ts';
import { pauseAttribution } from '../domain/operator-pause.ts';
import type { RecoveryStatus } from '../domain/recovery-progress.ts';
import { counted, oneLine } from '../domain/text.ts';
import { type CommandContext, noOptions, runs } from '../lib/command-line.ts';
import { UserError } from '../lib/user-error.ts';
import type { PausedWorkflows } from '../temporal/paused.ts';
import { minute, pairs } from './layout.ts';
import { recoveryCounts } from './recovery-record.ts';
import {
  type DatabaseStatus,
  eshopText,
  problemsOf,
  readStatus,
  type Status,
  type TemporalStatus,
} from './status.ts';

export function statusCommand(command: Command, { env, print }: CommandContext): void {
  runs(command, noOptions, async ({ json }) => {
    const status = await readStatus(readSettings(env));
    const problems = problemsOf(status);
    print(json ? JSON.stringify({ ...status, problems }) : statusTable(status));
    // As an error: on stderr, with exit code 1.
    if (problems.length > 0) throw new UserError(problems.map(({ message }) => message).join('\n'));
    if (!json) print('Nothing needs attention.');
  });
}

type Row = readonly [string, string];

const MIB = 2 ** 20;
const size = (bytes: number) =>
  bytes < 1024 * MIB ? `${Math.round(bytes / MIB)} MiB` : `${(bytes / (1024 * MIB)).toFixed(1)} GiB`;
const since = (seconds: number | null) =>
  seconds === null ? '' : `, the oldest for ${duration(seconds * 1_000)}`;
/** "12 fresh, 3 retries"; zeros are left out. */
const parts = (counts: Readonly<Record<string, number>>, none: string) => {
  const present = Object.entries(counts).flatMap(([what, count]) => (count > 0 ? [`${count} ${what}`] : []));
  return present.length === 0 ? none : present.join(', ');
};

function recoveryRow(recovery: RecoveryStatus): Row {
  const { recoveryId, webhookId, state, reason, estimatedEndAt } = recovery;
  const end = estimatedEndAt === null ? '' : `, until about ${minute(estimatedEndAt)}`;
  const why = reason === null ? '' : `. ${reason}`;
  return [
    'Recovery',
    `${recoveryId}, webhook ${webhookId}: ${state}, ${recoveryCounts(recovery)}${end}${why}`,
  ];
}

function loopText({ eshopId, kind, entityId, changes }: FoundLoop): string {
  return `${kind} ${oneLine(entityId)} of e-shop ${eshopId}, changed ${changes} times within a minute`;
}

function noticesText(overview: NoticesOverview): string {
  const { pending, deferred, givenUp, oldestSeconds, oldestOf, lastError } = overview;
  const waiting = {
    'to send': pending,
    "deferred, beyond their e-shops' budgets": deferred,
    'given up in the last day': givenUp,
  };
  const error = lastError === null ? '' : `; ${oneLine(lastError)}`;
  const recipient = oldestOf === null ? '' : `, to ${eshopText(oldestOf)}`;
  return `${parts(waiting, 'none to send')}${since(oldestSeconds)}${recipient}${error}`;
}

export function databaseRows(database: DatabaseStatus): Row[] {
  if (database.problem !== null) return [['Database', database.problem]];
  const { outbox, open, overdue, failing, mails, furtherNotices, partitions, heldUpBy } = database;
  const { changeLoop, mailFolder } = database;
  const overdueSeconds: readonly (readonly [string, number])[] = [
    ['an attempt in Temporal', overdue.attemptSeconds],
    ...queueClasses.map((waiting) => [waiting, overdue.queue[waiting]] as const),
  ];
  const overdueClasses = overdueSeconds.filter(([, seconds]) => seconds >= 1);
  // A deliberate setting, also shown at the start and in an alert, so it does not make the exit code 1.
  const files =
    mailFolder === null ? '' : `; without SMTP_URL they go to ${mailFolder}, and nobody gets them`;
  const waiting = {
    fresh: outbox.fresh,
    retries: outbox.retry,
    'of imports': outbox.bulk,
    'of recoveries': outbox.recovered,
    paused: outbox.paused,
  };
  const pending = { undelivered: outbox.undelivered, delivered: outbox.delivered };
  const never = outbox.withoutWorkflow === 0 ? '' : `; ${outbox.withoutWorkflow} delivered without one`;
  const unblocked = overdue.stuck.length === 0 ? '' : `; ${overdue.stuck.length} stuck without a blocker`;
  const held = open.held === 0 ? 'none' : `${open.held}, to ${counted(open.holdingWebhooks, 'webhook')}`;
  return [
    ['Database', `PostgreSQL ${database.version}, ${size(database.bytes)}`],
    ['Queue', `${parts(waiting, 'empty')}${since(outbox.oldestSeconds)}`],
    ['Workflows', `${parts(pending, 'none')} to start${never}`],
    [
      'Ordering',
      outbox.blocked === 0
        ? 'nothing waits'
        : `${outbox.blocked} waiting, of ${counted(outbox.blockedRecords, 'record')}${since(outbox.blockedSeconds)}${unblocked}`,
    ],
    [
      'Changes',
      outbox.changes === 0
        ? 'none to pass on'
        : `${outbox.changes} to pass on${since(outbox.oldestChangeSeconds)}`,
    ],
    ['Open', parts({ pending: open.pending, retrying: open.retrying }, 'none')],
    [
      'Overdue',
      overdueClasses.length === 0
        ? 'no attempt'
        : overdueClasses
            .map(([what, seconds]) => `${what}, for ${duration(Math.floor(seconds) * 1_000)}`)
            .join('; '),
    ],
    ['Held', held],
    [
      'Failing',
      failing === 0 ? 'no webhook' : `${counted(failing, 'webhook')}: waybill webhooks list --failing`,
    ],
    ...(changeLoop === null ? [] : [['Loop', loopText(changeLoop)] as const]),
    ...(heldUpBy === null ? [] : [['Cursors', `wait for ${openTransaction(heldUpBy)}`] as const]),
    ...database.deadRowsKeptBy.map(
      (keeper) => ['Disk', `dead rows or old log kept for ${keeperOfDeadRows(keeper)}`] as const,
    ),
    ...(database.recoveries.length === 0
      ? [['Recoveries', 'none under way'] as const]
      : database.recoveries.map(recoveryRow)),
    ['Mails', `${noticesText(mails)}${files}`],
    // Notices to further addresses and URLs.
    ['Notices', noticesText(furtherNotices)],
    [
      'Partitions',
      `${partitions.since === null ? 'up' : `from ${minute(partitions.since).slice(0, 10)}`} to ${minute(partitions.until).slice(0, 10)}`,
    ],
  ];
}

export function flowRows(flow: FlowOverview): Row[] {
  const { seconds, events, deliveries, delivered, failing, p50Ms, p95Ms } = flow;
  const each = (count: number) => `${(count / seconds).toFixed(1)}/s`;
  const times =
    p50Ms === null || p95Ms === null ? '' : `, half within ${duration(p50Ms)}, 95% within ${duration(p95Ms)}`;
  return [
    ['Events', `${each(events)} in the last ${seconds} s`],
    ['Deliveries', `${each(deliveries)}: ${delivered} delivered${times}, ${failing} failing`],
  ];
}

function pausedText({ count, example }: PausedWorkflows): string {
  const exampleText = example === null ? '' : `, such as ${example.workflowId}, ${pauseAttribution(example)}`;
  return `${counted(count, 'workflow')} in Temporal${exampleText}`;
}

export function temporalRows(temporal: TemporalStatus): Row[] {
  if (temporal.problem !== null) return [['Temporal', temporal.problem]];
  const { address, namespace, taskQueue, workers, paused } = temporal;
  return [
    ['Temporal', `${address}, namespace ${namespace}`],
    [
      'Workers',
      workers.length === 0
        ? `none in the task queue ${taskQueue}`
        : `${workers.length} in the task queue ${taskQueue}: ${workers.join(', ')}`,
    ],
    // Operators do this on purpose, as with held deliveries.
    ...(paused.count === 0 ? [] : [['Paused', pausedText(paused)] as const]),
  ];
}

export function statusTable({ database, temporal }: Status): string {
  return pairs([...databaseRows(database), ...(temporal === null ? [] : temporalRows(temporal))]);
}
