/**
 * The connection pool. Column names are snake_case in SQL and camelCase in TypeScript; `numeric` arrives as a
 * decimal string, `timestamptz` as `Date`, JSON untouched.
 */
import postgres from 'postgres';
import { tlsModeOf } from './tls-mode.ts';
import { openSocket, type SocketDeadlines, SocketGroup } from './watched-socket.ts';

/** A pool or a transaction: what every query function takes first. */
export type Sql = postgres.Sql | postgres.TransactionSql;
/** The pool itself, where a function opens its own transaction. */
export type Pool = postgres.Sql;

/** How long things may take, in milliseconds. */
export interface PoolDeadlines extends SocketDeadlines {
  /** For a statement, before Postgres ends it: no request hangs on a lock for ever. null: as long as it takes. */
  readonly statementMs: number | null;
  /** For a statement to get a lock, before Postgres ends it; null: as long as for the statement. */
  readonly lockMs: number | null;
}

/**
 * A server that works ends a statement after ten seconds and says so; one that has said nothing five seconds later
 * is out of reach, and so is its connection.
 */
const DEADLINES: PoolDeadlines = { connectMs: 5_000, statementMs: 10_000, silenceMs: 15_000, lockMs: null };

/**
 * How the server finds out that we have vanished, in seconds: it probes a connection on which nothing is said, and ends the
 * session after three probes without an answer. By default that takes hours, in which the session may hold a lock.
 */
const PROBES_OF_THE_SERVER = { tcp_keepalives_idle: 10, tcp_keepalives_interval: 5, tcp_keepalives_count: 3 };

/** The longest wait between two tries to connect, in seconds: an outage is made longer by no more than that. */
const MAX_BACKOFF_S = 1;

/**
 * How long a connection waits before it is made again, in seconds. The library's own waits grow to 20 s, and count the
 * failures of all connections together, so that an outage of a second would be one of ten.
 */
function reconnectAfter(failures: number): number {
  return (0.5 + Math.random() / 2) * Math.min(MAX_BACKOFF_S, 0.05 * failures);
}

/** What is known of the connections of each pool. */
const groups = new WeakMap<Pool, SocketGroup>();

/** How much of a pool is in use. */
export interface PoolUse {
  /** The most connections. */
  readonly most: number;
  readonly open: number;
  /** On which an answer is awaited. */
  readonly busy: number;
}

/** How much of a pool of {@link createPool} is in use. */
export function poolUse(sql: Pool): PoolUse {
  const use = groups.get(sql)?.use() ?? { open: 0, busy: 0 };
  return { most: sql.options.max, ...use };
}

/**
 * Opens a pool. Nothing connects until the first query. A query on a connection that falls silent fails with
 * `DatabaseSilent`, and the next one gets a new connection, since idle ones that were silent as well are dropped.
 * @param url a `postgres://` address
 * @param max the most connections (default 10)
 */
export function createPool(url: string, max = 10, deadlines: Partial<PoolDeadlines> = {}): Pool {
  const { statementMs, lockMs, ...socketDeadlines } = { ...DEADLINES, ...deadlines };
  const tls = tlsModeOf(url);
  const group = new SocketGroup();
  const options = {
    max,
    // Only column names: postgres.camel would also rewrite the keys inside JSON values.
    transform: { column: { from: postgres.toCamel, to: postgres.fromCamel } },
    connection: {
      application_name: 'waybill',
      ...PROBES_OF_THE_SERVER,
      ...(statementMs === null ? {} : { statement_timeout: statementMs }),
      ...(lockMs === null ? {} : { lock_timeout: lockMs }),
    },
    connect_timeout: 10,
    backoff: reconnectAfter,
    onnotice: () => {},
    // The socket has spoken TLS by then, and probes idle connections.
    ssl: false,
    socket: ({ host: [host = '127.0.0.1'], port: [port = 5432] }: { host: string[]; port: number[] }) =>
      openSocket({ host, port, tls }, socketDeadlines, group),
  };
  const pool = postgres(url, options);
  groups.set(pool, group);
  return pool;
}
