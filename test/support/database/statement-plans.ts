/** The plan of every statement that any process sends to a database, read on the wire. */
import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import type { Pool } from '../../../src/db/connection/pool.ts';
import { listenLocally } from '../servers/ports.ts';
import { nodesOf } from './lists/plan.ts';

/** The fields read of a node of a plan, as `auto_explain` writes it. */
interface PlanNode {
  readonly 'Node Type': string;
  readonly 'Relation Name'?: string;
  readonly 'Total Cost': number;
  readonly Plans?: readonly PlanNode[];
}

interface Explained {
  readonly 'Query Text': string;
  readonly Plan: PlanNode;
  readonly JIT?: object;
}

/** The plans of a statement, over all its executions. */
export interface StatementPlan {
  readonly text: string;
  /** The highest cost that the planner expected. */
  readonly cost: number;
  /** Tables that were read from beginning to end. */
  readonly scanned: readonly string[];
  readonly compiled: boolean;
}

/** An address of the database at which plans are recorded. */
export interface WatchedDatabase {
  readonly url: string;
  plans(): StatementPlan[];
  close(): Promise<void>;
}

/** The head of a message of the protocol: its kind, and its length, which includes itself. */
const HEAD_BYTES = 5;
const NOTICE = 'N'.charCodeAt(0);
const BACKEND_KEY = 'K'.charCodeAt(0);

/**
 * Makes the server explain every statement of a database, and records the plans of connections to the new address.
 * @param sql of a superuser
 * @param pooled makes it look like a pooler: then Waybill sets and prepares nothing
 */
export async function watchPlans(sql: Pool, url: string, pooled: boolean): Promise<WatchedDatabase> {
  const name = new URL(url).pathname.slice(1);
  for (const [setting, value] of [
    ['session_preload_libraries', 'auto_explain'],
    ['auto_explain.log_min_duration', '0'],
    ['auto_explain.log_format', 'json'],
    ['auto_explain.log_level', 'notice'],
    ['auto_explain.log_nested_statements', 'on'],
  ] as const)
    await sql.unsafe(`alter database ${name} set ${setting} = ${value}`);
  const found = new Map<string, StatementPlan>();

  function notice(message: Buffer): boolean {
    const text = /(?:^|\0)M(duration: [^\0]*)/.exec(message.toString('utf8', HEAD_BYTES))?.[1];
    const at = text?.indexOf('{') ?? -1;
    if (text === undefined || at < 0) return false;
    const { 'Query Text': query, Plan, JIT }: Explained = JSON.parse(text.slice(at));
    const before = found.get(query);
    const nodes = nodesOf(Plan);
    const scanned = nodes
      .filter((node) => node['Node Type'] === 'Seq Scan')
      .flatMap((node) => node['Relation Name'] ?? []);
    found.set(query, {
      text: query,
      cost: Math.max(before?.cost ?? 0, Plan['Total Cost']),
      scanned: [...new Set([...(before?.scanned ?? []), ...scanned])],
      compiled: before?.compiled === true || JIT !== undefined,
    });
    return true;
  }

  const target = new URL(url);
  const server = createServer((outer) => {
    const inner = connect({ host: target.hostname, port: Number(target.port) });
    let rest = Buffer.alloc(0);
    outer.pipe(inner);
    inner.on('data', (piece) => {
      rest = Buffer.concat([rest, piece]);
      while (rest.length >= HEAD_BYTES) {
        const length = 1 + rest.readInt32BE(1);
        if (rest.length < length) break;
        const message = rest.subarray(0, length);
        rest = rest.subarray(length);
        if (message[0] === NOTICE && notice(message)) continue;
        // Report another process id, as a pooler does.
        if (message[0] === BACKEND_KEY && pooled) message.writeInt32BE(1, HEAD_BYTES);
        outer.write(Buffer.from(message));
      }
    });
    inner.on('close', () => outer.destroy());
    outer.on('close', () => inner.destroy());
    for (const socket of [inner, outer]) socket.on('error', () => {});
  });
  const port = await listenLocally(server);
  return {
    url: Object.assign(new URL(url), { host: `127.0.0.1:${port}` }).href,
    plans: () => [...found.values()],
    async close() {
      const closed = once(server, 'close');
      server.close();
      await closed;
    },
  };
}
