/** Checks once, at the start, whether a server suits Waybill and whether a pooler is in front of it. */
import { randomUUID } from 'node:crypto';
import { atMost } from '../../lib/at-most.ts';
import { UserError } from '../../lib/user-error.ts';
import { createPool, oneRow, type Pool } from './pool.ts';

/** The oldest Postgres that Waybill supports: the oldest that it was tested with. */
const OLDEST_VERSION = 13;
/** How long a notification may take. Too low: a busy server fails a start. Too high: a wrong address shows late. */
const NOTIFICATION_MS = 5_000;

interface Server {
  readonly version: number;
  readonly encoding: string;
  readonly isolation: string;
  readonly dateStyle: string;
  readonly byteaOutput: string;
  readonly readOnly: boolean;
  /** The schema where tables are created; null if the search path names none that exists and the role may use. */
  readonly schema: string | null;
  readonly searchPath: string;
  readonly pid: number;
}

/**
 * Checks the server at `DATABASE_URL`.
 * @returns whether a pooler, such as PgBouncer, is in front of it: a client session is then not a server session
 * @throws UserError with one sentence if Waybill cannot work with it
 */
export async function inspectServer(url: string): Promise<{ readonly pooled: boolean }> {
  const sql = createPool(url, 1, { session: false });
  try {
    const server = await oneRow(sql<Server[]>`
      select current_setting('server_version_num')::int / 10000 as version,
        current_setting('server_encoding') as encoding,
        current_setting('default_transaction_isolation') as isolation,
        current_setting('DateStyle') as date_style,
        current_setting('bytea_output') as bytea_output,
        pg_is_in_recovery() or current_setting('transaction_read_only') = 'on' as read_only,
        current_schema() as schema,
        current_setting('search_path') as search_path,
        pg_backend_pid() as pid`);
    // Without a pooler, the connection was given the id of the server process that answers.
    const pooled = !sql.connections.backendPids.includes(server.pid);
    const problem = problemOf(server, pooled);
    if (problem !== null) throw new UserError(`The database at DATABASE_URL ${problem}.`);
    return { pooled };
  } finally {
    await sql.end({ timeout: 1 });
  }
}

function problemOf(
  { version, encoding, isolation, dateStyle, byteaOutput, readOnly, schema, searchPath }: Server,
  pooled: boolean,
): string | null {
  if (version < OLDEST_VERSION) return `is Postgres ${version}; Waybill needs ${OLDEST_VERSION} or later`;
  if (encoding !== 'UTF8') return `has the encoding ${encoding}; create one with UTF8`;
  if (readOnly) return 'is read-only: it may be a standby';
  if (schema === null)
    return `has no schema for tables: its search_path is ${searchPath}, and the role may use none of these`;
  // Without a pooler each session sets these itself.
  const set = (name: string, value: string, wanted: string) =>
    `has ${name} = ${value}, which cannot be changed through a pooler: set it to ${wanted} for the role or the database`;
  if (pooled && isolation !== 'read committed')
    return set('default_transaction_isolation', isolation, 'read committed');
  if (pooled && !dateStyle.startsWith('ISO')) return set('DateStyle', dateStyle, 'ISO');
  if (pooled && byteaOutput !== 'hex') return set('bytea_output', byteaOutput, 'hex');
  return null;
}

/**
 * Sessions besides the one for LISTEN: claims of two classes may coincide while attempts are read, begun or recorded.
 * Too high: more connections past the pooler that are hardly used.
 */
const SESSIONS = 3;

/**
 * A statement that takes longer goes through the pool, in time for the request of a begun attempt
 * (`MAX_START_DELAY_MS`). Too low: a busy moment makes statements expensive for half a minute. Too high: while the
 * server's own address is unreachable, attempts are interrupted.
 */
const SESSION_DEADLINES = { connectMs: 1_500, statementMs: 2_000, silenceMs: 3_000 } as const;

/**
 * Sessions with the server itself, which can listen for notifications sent through `sql`.
 * @param url of the server
 * @throws UserError if it leads to another database, or to a pooler
 */
export async function createSessionPool(sql: Pool, url: string): Promise<Pool> {
  const sessions = createPool(url, SESSIONS, SESSION_DEADLINES);
  try {
    const channel = `waybill_${randomUUID()}`;
    const heard = new Promise<true>((resolve, reject) => {
      sessions
        .listen(
          channel,
          () => resolve(true),
          () => void sql.notify(channel, '').catch(reject),
        )
        .catch(reject);
    });
    if ((await atMost(NOTIFICATION_MS, heard)) === undefined)
      throw new UserError(
        'A notification sent at DATABASE_URL does not arrive at DATABASE_DIRECT_URL, which has to lead to the same database, without a pooler.',
      );
    return sessions;
  } catch (error) {
    await sessions.end({ timeout: 1 });
    throw error;
  }
}
