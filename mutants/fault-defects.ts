/**
 * Defects that the fault rounds must catch: one for each group, so that a blind checker is not trusted.
 */
import type { GroupName } from '../faults/fault.ts';
import type { Change } from './defect.ts';

/** A defect with the rounds that show it. */
export interface FaultDefect extends Change {
  readonly group: GroupName;
  /** The fault of the rounds. */
  readonly fault: string;
}

export const faultDefects: readonly FaultDefect[] = [
  {
    name: 'faults-kill',
    group: 'kill',
    fault: 'worker killed',
    file: 'src/db/deliveries/attempts.ts',
    text: 'set window_started_at = coalesce(d.window_started_at, begun.started_at)\n',
    replacement:
      'set window_started_at = coalesce(d.window_started_at, begun.started_at), attempts_made = d.attempts_made + 1\n',
    noticed: 'An attempt whose worker was killed counts as failed, and a delivery with it.',
  },
  {
    name: 'faults-link',
    group: 'link',
    fault: 'worker to Postgres silent',
    file: 'src/db/connection/pool.ts',
    text: '  silenceMs: 15_000,',
    replacement: '  silenceMs: null,',
    noticed: 'A worker whose connections have fallen silent works no more until it is started again.',
  },
  {
    name: 'faults-accepting-and-closing',
    group: 'accepting and closing',
    fault: 'worker to Postgres accepted and closed',
    file: 'src/db/connection/pool.ts',
    text: 'Math.min(MAX_BACKOFF_S, 0.05 * failures)',
    replacement: '3_600 * Math.min(MAX_BACKOFF_S, failures)',
    noticed: 'A database that was away for a moment is not tried again for half an hour.',
  },
  {
    name: 'faults-postgres',
    group: 'postgres',
    fault: 'read-only',
    file: 'activities/attempt-delivery.ts',
    text: '    nonRetryable: !lastChance,\n',
    replacement: '    nonRetryable: false && !lastChance,\n',
    noticed: 'A moment in which nothing can be recorded costs a wait of the policy.',
  },
  {
    name: 'faults-foreign-sessions',
    group: 'foreign sessions',
    fault: 'events committed late in a recovery',
    file: 'src/db/maintenance/low-water-mark.ts',
    text: 'select least(clock_timestamp(), min(xact_start),',
    replacement: 'select greatest(clock_timestamp(), min(xact_start),',
    noticed: 'A recovery passes by the events of a transaction that is still open.',
  },
  {
    name: 'faults-disk-full',
    group: 'disk full',
    fault: 'no room for the log of Postgres',
    file: 'src/embedded/service.ts',
    text: '        if (leftOut(message) !== null) trouble(message);\n',
    replacement: '        if (leftOut(message) !== null) trouble(message);\n        return;\n',
    noticed: 'A Postgres that cannot start while the disk is full is not started again when there is room.',
  },
  {
    name: 'faults-pooler',
    group: 'pooler',
    fault: 'transaction pooling: worker killed',
    file: 'src/db/connection/pool.ts',
    text: '    prepare: session,\n',
    replacement: '    prepare: true,\n',
    noticed: 'Behind PgBouncer statements fail that another of its connections has prepared.',
  },
  {
    name: 'faults-standby',
    group: 'standby',
    fault: 'promoted, the old one at its name, read-only',
    file: 'src/db/connection/watched-socket.ts',
    text: `    if (readOnly)
      socket.destroy(new DatabaseReadOnly('The database takes no writes: it is a standby, or read-only.'));
    if (event.kind === 'error' && event.code === READ_ONLY_TRANSACTION) refused = true;
`,
    replacement:
      "    if (readOnly && event.kind === 'error' && event.code === READ_ONLY_TRANSACTION) refused = true;\n",
    noticed: 'After a failover connections stay with the old node, which refuses every write, for ever.',
  },
  {
    name: 'faults-foreign-settings',
    group: 'foreign settings',
    fault: 'settings of the role',
    file: 'src/db/connection/pool.ts',
    text: "  DateStyle: 'ISO, MDY',\n",
    replacement: '',
    noticed: 'Where the role has another DateStyle, no time of the database can be read.',
  },
  {
    name: 'faults-remote',
    group: 'remote',
    fault: 'far away: worker killed',
    file: 'src/db/connection/pool.ts',
    text: '  silenceMs: 15_000,',
    replacement: '  silenceMs: 4,',
    noticed: 'A database some milliseconds away is taken for dead.',
  },
  {
    name: 'faults-temporal',
    group: 'temporal',
    fault: 'wiped',
    file: 'src/reconciler/verdict.ts',
    text: "    case 'missing':\n    case 'ended':\n      return { reason: found.as, action: 'startedAgain' };",
    replacement:
      "    case 'missing':\n      return null;\n    case 'ended':\n      return { reason: found.as, action: 'startedAgain' };",
    noticed: 'Deliveries whose workflows were lost stay open for ever.',
  },
  {
    name: 'faults-polls-refused',
    group: 'polls refused',
    fault: 'polls given up at once',
    file: 'src/temporal/run-together.ts',
    text: '      const state = worker.getState();',
    replacement: "      const state: string = 'RUNNING';",
    noticed: 'Nobody takes the place of a worker whose polls were refused.',
  },
  {
    name: 'faults-operator',
    group: 'operator',
    fault: 'workflow terminated',
    file: 'src/reconciler/verdict.ts',
    text: "  delivery: 'closed',",
    replacement: "  delivery: 'startedAgain',",
    noticed: 'A delivery that an operator terminated is started again.',
  },
  {
    name: 'faults-recovery',
    group: 'recovery',
    fault: 'worker killed in a recovery',
    file: 'src/db/recoveries/step.ts',
    text: '(page?.last === true && idAt(recovery.until) <= mark)',
    replacement: '(page !== null && recovery.created > 0)',
    noticed: 'A recovery takes itself for complete before it has looked at everything.',
  },
  {
    name: 'faults-pause',
    group: 'pause',
    fault: 'worker killed as a pause ends',
    file: 'src/api/webhooks/operations.ts',
    text: 'until === null ? null : new Date(until)',
    replacement: 'until === null ? null : new Date(Date.parse(until) - 3_000)',
    noticed: 'A pause ends three seconds before its time.',
  },
  {
    name: 'faults-receiver',
    group: 'receiver',
    fault: 'our resolver away',
    file: 'src/delivery/fault.ts',
    text: "  ETIMEOUT: 'resolver',",
    replacement: "  ETIMEOUT: 'receiver',",
    noticed: 'While our resolver is away every attempt counts against its receiver.',
  },
  {
    name: 'faults-moving-receivers',
    group: 'moving receivers',
    fault: 'moved, and the old address serves too',
    file: 'src/delivery/connections.ts',
    text: '          clientTtl: maxAgeMs,',
    replacement: '          clientTtl: 0 * maxAgeMs,',
    noticed: 'A receiver in steady use is called for ever at the address that its name has left.',
  },
  {
    name: 'faults-idempotency',
    group: 'idempotency',
    fault: 'API killed while requests are repeated',
    file: 'src/api/records/stock-movements.ts',
    text: "const sql = c.get('sql') ?? deps.sql;",
    replacement: 'const { sql } = deps;',
    noticed: 'A movement is made twice if the API dies between it and its kept answer.',
  },
  {
    name: 'faults-order',
    group: 'order',
    fault: 'in order: worker killed',
    file: 'src/db/outbox/ordering.ts',
    text: "where predecessor.state in ('pending', 'retrying') and",
    replacement: "where predecessor.state in ('retrying') and",
    noticed: 'Two events of a record are at their receiver at the same time, in any order.',
  },
  {
    name: 'faults-mail',
    group: 'mail',
    fault: 'server defers twice (451)',
    file: 'activities/mail-once.ts',
    text: 'error.message).catch(() => {});\n      throw error;\n',
    replacement:
      "error.message).catch(() => {});\n      await recordNoticeSent(sql, noticeId);\n      return { outcome: 'sent' };\n",
    noticed: 'A mail server that asks for patience never gets the mail.',
  },
  {
    name: 'faults-clock',
    group: 'clock',
    fault: "worker's clock a minute behind",
    file: 'src/db/deliveries/attempts.ts',
    text: 'asked.generation, clock_timestamp(), asked',
    replacement: `asked.generation, \${new Date()}::timestamptz, asked`,
    noticed: 'With a worker whose clock is behind, the window of a delivery is over before its time.',
  },
  {
    name: 'faults-database-clock',
    group: 'database clock',
    fault: "database's clock set back an hour",
    file: 'src/reconciler/watch-clock.ts',
    text: '    if (readings === 0) return;\n',
    replacement: '    if (readings > 0) return;\n',
    noticed: "What waits while the database's clock is set back waits for as long.",
  },
  {
    name: 'faults-stop',
    group: 'stop',
    fault: 'worker stopped in order',
    file: 'src/app/sdk-workers.ts',
    text: '    shutdownGraceTime: policy.attemptTimeoutMs + SHUTDOWN_SLACK_MS,\n',
    replacement: '    shutdownGraceTime: Math.min(1, SHUTDOWN_SLACK_MS),\n',
    noticed: 'A deploy cuts the requests that are under way, and makes them again.',
  },
];
