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

/** The row of a statement that always has one. */
export async function oneRow<Row>(rows: PromiseLike<readonly Row[]>): Promise<Row> {
  const [row] = await rows;
  if (row === undefined) throw new Error('A statement that always has a row had none.');
  return row;
}

/** What a statement counted. */
export async function counted(rows: PromiseLike<readonly { readonly count: number }[]>): Promise<number> {
  return (await oneRow(rows)).count;
}

/** How long things may take, in milliseconds. */
export interface PoolDeadlines extends SocketDeadlines {
  /** For a statement, before Postgres ends it: no request hangs on a lock for ever. null: as long as it takes. */
  readonly statementMs: number | null;
}

/** How a pool is used. */
export interface PoolOptions extends PoolDeadlines {
  /**
   * Its connections are sessions with the server itself: statements are prepared, and settings of the session stand. False for
   * what a transaction pooler may be in front of. Default true.
   */
  readonly session: boolean;
}

/**
 * A server that works ends a statement after ten seconds and says so; one that has said nothing five seconds later
 * is out of reach, and so is its connection.
 */
const DEFAULTS: PoolOptions = {
  connectMs: 5_000,
  statementMs: 10_000,
  silenceMs: 15_000,
  session: true,
};

/**
 * What makes a calm delivery a third faster, and nothing rests on: every statement is planned at its first execution on a connection
 * and not five times, and by indexes while tables are small. Without JIT, which would compile each statement that has to read a table.
 */
const PLANNING = { plan_cache_mode: 'force_generic_plan', enable_seqscan: 'off', jit: 'off' } as const;

/**
 * Settings of a session with the server itself; through a pooler none is asked for, and `server.ts` looks at those that count.
 * How the server finds out that we have vanished: it probes a connection on which nothing is said (seconds), and ends the session
 * after three probes without an answer. By default that takes hours, in which the session may hold a lock. The last three are what
 * a role or the database may have set otherwise.
 */
const SESSION = {
  application_name: 'waybill',
  tcp_keepalives_idle: 10,
  tcp_keepalives_interval: 5,
  tcp_keepalives_count: 3,
  default_transaction_isolation: 'read committed',
  DateStyle: 'ISO, MDY',
  TimeZone: 'UTC',
  ...PLANNING,
} as const;
/** Not even a name: PgBouncer would set it on each of the server's connections. */
const POOLED = { application_name: '' };

/** `\x` and hexadecimal digits, or, where `bytea_output` says so, text with octal escapes. */
function bytesOf(text: string): Buffer {
  if (text.startsWith('\\x')) return Buffer.from(text.slice(2), 'hex');
  const unescaped = text.replace(/\\(\\|[0-7]{3})/g, (_, code: string) =>
    code === '\\' ? code : String.fromCharCode(Number.parseInt(code, 8)),
  );
  return Buffer.from(unescaped, 'latin1');
}

/** @throws TypeError where it is written in another style than ISO 8601: a day would be taken for a month */
function timeOf(text: string): Date {
  const time = new Date(text);
  if (!/^\d{4,6}-\d\d-\d\d/.test(text) || Number.isNaN(time.getTime()))
    throw new TypeError(`The database wrote a time that is not in ISO 8601: ${text}`);
  return time;
}

const TYPES = {
  bytea: {
    to: 17,
    from: [17],
    serialize: (bytes: Uint8Array) => `\\x${Buffer.from(bytes).toString('hex')}`,
    parse: bytesOf,
  },
  date: {
    to: 1184,
    from: [1082, 1114, 1184],
    serialize: (time: Date | string) => new Date(time).toISOString(),
    parse: timeOf,
  },
};

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

/** How many connections a pool of {@link createPool} has at most, and has now; on those that are busy an answer is awaited. */
export function poolUse(sql: Pool): { readonly most: number; readonly open: number; readonly busy: number } {
  return { most: sql.options.max, open: 0, busy: 0, ...groups.get(sql)?.use() };
}

/** The processes of the server that a pool's connections were given, as whatever it is connected to named them. */
export function backendPids(sql: Pool): readonly number[] {
  return groups.get(sql)?.backendPids ?? [];
}

/**
 * Opens a pool. Nothing connects until the first query. A query on a connection that falls silent fails with
 * `DatabaseSilent`, and the next one gets a new connection, since idle ones that were silent as well are dropped.
 * @param url a `postgres://` address
 * @param max the most connections (default 10)
 */
export function createPool(url: string, max = 10, given: Partial<PoolOptions> = {}): Pool {
  const { statementMs, session, ...deadlines } = { ...DEFAULTS, ...given };
  const tls = tlsModeOf(url);
  const group = new SocketGroup();
  const options = {
    max,
    // Only column names: postgres.camel would also rewrite the keys inside JSON values.
    transform: { column: { from: postgres.toCamel, to: postgres.fromCamel } },
    types: TYPES,
    prepare: session,
    // PgBouncer forgets a statement that waits behind another on the same connection, until its parameters are described (1.18).
    max_pipeline: session ? 100 : 0,
    connection: !session
      ? POOLED
      : { ...SESSION, ...(statementMs === null ? {} : { statement_timeout: statementMs }) },
    connect_timeout: 10,
    backoff: reconnectAfter,
    onnotice: () => {},
    // The socket has spoken TLS by then, and probes idle connections.
    ssl: false,
    socket: ({ host: [host = '127.0.0.1'], port: [port = 5432] }: { host: string[]; port: number[] }) =>
      openSocket({ host, port, tls }, deadlines, group),
  };
  const pool = postgres(url, options);
  groups.set(pool, group);
  return pool;
}
