/**
 * The connection pool. Column names are snake_case in SQL and camelCase in TypeScript; `numeric` arrives as a
 * decimal string, `timestamptz` as `Date`, JSON untouched.
 */
import postgres from 'postgres';
import { createNotifier, type Notifier } from '../outbox/notify.ts';
import { tlsModeOf } from './tls-mode.ts';
import { openSocket, type SocketDeadlines, SocketGroup } from './watched-socket.ts';

export { counted, firstRow, oneRow, type Sql } from '../sql.ts';

/** A pool: for functions that open their own transaction. */
export type Pool = postgres.Sql & {
  readonly connections: SocketGroup;
  /** Wakes the relays on its database. */
  readonly notifier: Notifier;
};

/** How a pool is used, with time limits in milliseconds. */
export interface PoolOptions extends SocketDeadlines {
  /** For a statement, before Postgres cancels it, so that no request waits for a lock forever. null: no limit. */
  readonly statementMs: number | null;
  /**
   * Its connections are sessions with the server itself: statements are prepared, and settings of the session last.
   * False if a transaction pooler may be in front of the server. Default true.
   */
  readonly session: boolean;
}

/**
 * A working server cancels a statement after ten seconds and says so. A server that is still silent five seconds
 * later is unreachable, and its connection is lost.
 */
const DEFAULTS: PoolOptions = {
  connectMs: 5_000,
  statementMs: 10_000,
  silenceMs: 15_000,
  session: true,
};

/**
 * Not necessary, but deliveries are a third faster at low load. Every statement is planned once per connection, not
 * five times, and uses indexes even while tables are small. JIT is off: it would compile each statement that has to
 * read a table.
 */
const PLANNING = { plan_cache_mode: 'force_generic_plan', enable_seqscan: 'off', jit: 'off' } as const;

/**
 * How long a session may leave its transaction idle, in milliseconds. Too low: a transaction fails whose process
 * stood still for a moment. Too high: the locks of a process that is gone delay deliveries.
 */
const IDLE_IN_TRANSACTION_MS = 60_000;

/**
 * Settings of a session with the server itself; through a pooler none is requested, and `server.ts` checks those
 * that matter. With keep-alives the server notices that we are gone: it probes a silent connection (seconds), and
 * ends the session after three unanswered probes. By default that takes hours, during which the session may hold a
 * lock. A proxy in between may answer the probes although we are gone: then the time-out of transactions ends the
 * session. The isolation and how values are written may be set otherwise for the role or the database.
 */
const SESSION = {
  application_name: 'waybill',
  tcp_keepalives_idle: 10,
  tcp_keepalives_interval: 5,
  tcp_keepalives_count: 3,
  idle_in_transaction_session_timeout: IDLE_IN_TRANSACTION_MS,
  default_transaction_isolation: 'read committed',
  DateStyle: 'ISO, MDY',
  bytea_output: 'hex',
  TimeZone: 'UTC',
  ...PLANNING,
} as const;
/** Not even a name: PgBouncer would set it on each of the server's connections. */
const POOLED = { application_name: '' };

/** @throws TypeError if it is not written in ISO 8601: a day would be taken for a month */
function timeOf(text: string): Date {
  const time = new Date(text);
  if (!/^\d{4,6}-\d\d-\d\d/.test(text) || Number.isNaN(time.getTime()))
    throw new TypeError(`The database wrote a time that is not in ISO 8601: ${text}`);
  return time;
}

const TYPES = {
  date: {
    to: 1184,
    from: [1082, 1114, 1184],
    serialize: (time: Date | string) => new Date(time).toISOString(),
    parse: timeOf,
  },
};

/** The longest wait between two tries to connect, in seconds: it prolongs an outage by at most this. */
const MAX_BACKOFF_S = 1;

/**
 * The wait before a connection is opened again, in seconds. The library's own waits grow to 20 s, and count the
 * failures of all connections together, so that an outage of one second would become one of ten.
 */
function reconnectAfter(failures: number): number {
  return (0.5 + Math.random() / 2) * Math.min(MAX_BACKOFF_S, 0.05 * failures);
}

/**
 * Opens a pool. Nothing connects until the first query. A query on a connection that falls silent fails with
 * `DatabaseSilent`, and the next query gets a new connection: idle connections that were silent as long are dropped.
 * @param url a `postgres://` address
 * @param max the most connections (default 10)
 */
export function createPool(url: string, max = 10, given: Partial<PoolOptions> = {}): Pool {
  const { statementMs, session, ...deadlines } = { ...DEFAULTS, ...given };
  const tls = tlsModeOf(url);
  const connections = new SocketGroup();
  const options = {
    max,
    // Only column names: postgres.camel would also rewrite the keys inside JSON values.
    transform: { column: { from: postgres.toCamel, to: postgres.fromCamel } },
    types: TYPES,
    prepare: session,
    // PgBouncer forgets a statement that waits behind another on the same connection, until its parameters are
    // described (1.18).
    max_pipeline: session ? 100 : 0,
    connection: !session
      ? POOLED
      : { ...SESSION, ...(statementMs === null ? {} : { statement_timeout: statementMs }) },
    connect_timeout: 10,
    backoff: reconnectAfter,
    onnotice: () => {},
    // The socket itself has set up TLS before, and probes idle connections.
    ssl: false,
    socket: ({ host: [host = '127.0.0.1'], port: [port = 5432] }: { host: string[]; port: number[] }) =>
      openSocket({ host, port, tls }, deadlines, connections),
  };
  const sql = postgres(url, options);
  return Object.assign(sql, { connections, notifier: createNotifier(sql) });
}
