/** How Postgres answers a query: which indexes it uses, and how many rows it reads. */
import postgres from 'postgres';
import type { Pool } from '../../../../src/db/connection/pool.ts';

/** A plan as Postgres logs it. */
interface PlanNode {
  readonly 'Node Type': string;
  readonly 'Relation Name'?: string;
  readonly 'Index Name'?: string;
  readonly 'Actual Rows': number;
  readonly 'Actual Loops': number;
  readonly 'Rows Removed by Filter'?: number;
  readonly 'Rows Removed by Index Recheck'?: number;
  readonly Plans?: readonly PlanNode[];
}

/** How a query was answered. */
export interface Plan {
  /** Tables that were read from beginning to end. */
  readonly scanned: readonly string[];
  /** Of a partition, the name of its parent's. */
  readonly indexes: readonly string[];
  /** Rows of tables that were read, including those that did not match. */
  readonly read: number;
}

/** Shows how queries are answered. */
export interface Planner {
  planOf(query: postgres.Fragment): Promise<Plan>;
  end(): Promise<void>;
}

/**
 * Reads the plans that queries really run with: a pool makes a generic one for all values.
 * @param url of the same database, as a superuser
 * @param settings of the planner in addition to the pool's
 */
export async function createPlanner(
  url: string,
  sql: Pool,
  settings: Readonly<Record<string, string>> = {},
): Promise<Planner> {
  const parents = new Map(
    (
      await sql<{ name: string; parent: string }[]>`
        select c.relname as name, p.relname as parent from pg_inherits
        join pg_class c on c.oid = inhrelid join pg_class p on p.oid = inhparent where c.relkind = 'i'`
    ).map(({ name, parent }) => [name, parent]),
  );
  const plans: PlanNode[] = [];
  const own = postgres(url, {
    // With the pool's planner settings.
    connection: { ...sql.options.connection, ...settings },
    max: 1,
    max_lifetime: null,
    onnotice({ message = '' }) {
      const json = message.slice(message.indexOf('{'));
      if (message.includes('plan:')) plans.push((JSON.parse(json) as { readonly Plan: PlanNode }).Plan);
    },
  });
  await own.unsafe(`
    load 'auto_explain';
    set auto_explain.log_min_duration = 0;
    set auto_explain.log_format = json;
    set auto_explain.log_level = notice;
    set auto_explain.log_analyze = on;
    set auto_explain.log_timing = off`);
  return {
    async planOf(query) {
      plans.length = 0;
      await own`${query}`;
      const plan = plans.at(-1);
      if (plan === undefined) throw new Error('There is no plan.');
      return planFrom(plan, parents);
    },
    end: () => own.end(),
  };
}

function planFrom(plan: PlanNode, parents: ReadonlyMap<string, string>): Plan {
  const nodes = nodesOf(plan);
  const found = (type: RegExp, key: 'Relation Name' | 'Index Name') =>
    [
      ...new Set(nodes.filter((node) => type.test(node['Node Type'])).flatMap((node) => node[key] ?? [])),
    ].sort();
  const scans = nodes.filter((node) => node['Relation Name'] !== undefined);
  return {
    scanned: found(/^Seq Scan$/, 'Relation Name'),
    indexes: [...new Set(found(/Index/, 'Index Name').map((name) => parents.get(name) ?? name))],
    read: scans.reduce((sum, node) => sum + lookedAt(node), 0),
  };
}

/** A node of a plan, and all below it. */
export function nodesOf<N extends { readonly Plans?: readonly N[] }>(node: N): N[] {
  return [node, ...(node.Plans ?? []).flatMap((below) => nodesOf(below))];
}

/** The figures of a node are per execution. */
function lookedAt(node: PlanNode): number {
  const { 'Actual Rows': found, 'Actual Loops': loops } = node;
  return (
    (found + (node['Rows Removed by Filter'] ?? 0) + (node['Rows Removed by Index Recheck'] ?? 0)) * loops
  );
}
