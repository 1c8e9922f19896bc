/** How Postgres answers a query: by which indexes, how many rows it looks at, and how many it sorts. */
import postgres from 'postgres';
import type { Pool } from '../../../src/db/pool.ts';

/** A plan as Postgres logs it. */
interface PlanNode {
  readonly 'Node Type': string;
  readonly 'Relation Name'?: string;
  readonly 'Index Name'?: string;
  /** Absent without figures, as all that follow. */
  readonly 'Actual Rows'?: number;
  readonly 'Actual Loops'?: number;
  readonly 'Rows Removed by Filter'?: number;
  readonly 'Rows Removed by Index Recheck'?: number;
  readonly 'Shared Hit Blocks'?: number;
  readonly 'Shared Read Blocks'?: number;
  readonly Plans?: readonly PlanNode[];
}

/** How a query was answered. */
export interface Plan {
  /** Tables that were read from their beginning to their end. */
  readonly scanned: readonly string[];
  readonly indexes: readonly string[];
  /** Rows of tables that were looked at, those included that did not fit. */
  readonly read: number;
  /** Rows that the largest sort was given. */
  readonly sorted: number;
  /** Pages of tables and indexes that were looked at, each as often as it was. */
  readonly pages: number;
}

/** What is told of a plan, and how it is made. */
export interface Looking {
  /** False: without figures. */
  readonly counts?: boolean;
  /** Settings of the planner beside those of the pool. */
  readonly settings?: Readonly<Record<string, string>>;
}

/** Tells how queries are answered. */
export interface Planner {
  planOf(query: postgres.Fragment): Promise<Plan>;
  end(): Promise<void>;
}

/**
 * Looks at the plans that queries are actually answered with: a pool makes one that fits all values.
 * @param url of the same database, as a superuser
 */
export async function createPlanner(
  url: string,
  sql: Pool,
  { counts = true, settings = {} }: Looking = {},
): Promise<Planner> {
  const plans: PlanNode[] = [];
  const own = postgres(url, {
    // With the pool's own settings of the planner.
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
    set auto_explain.log_analyze = ${counts};
    set auto_explain.log_timing = off;
    set auto_explain.log_buffers = ${counts}`);
  return {
    async planOf(query) {
      plans.length = 0;
      await own`${query}`;
      const plan = plans.at(-1);
      if (plan === undefined) throw new Error('There is no plan.');
      return planFrom(plan);
    },
    end: () => own.end(),
  };
}

function planFrom(plan: PlanNode): Plan {
  const nodes = nodesOf(plan);
  const found = (type: RegExp, key: 'Relation Name' | 'Index Name') =>
    [
      ...new Set(nodes.filter((node) => type.test(node['Node Type'])).flatMap((node) => node[key] ?? [])),
    ].sort();
  const scans = nodes.filter((node) => node['Relation Name'] !== undefined);
  return {
    scanned: found(/^Seq Scan$/, 'Relation Name'),
    indexes: found(/Index/, 'Index Name'),
    read: scans.reduce((sum, node) => sum + lookedAt(node), 0),
    sorted: Math.max(0, ...nodes.filter((node) => /Sort/.test(node['Node Type'])).map(given)),
    pages: (plan['Shared Hit Blocks'] ?? 0) + (plan['Shared Read Blocks'] ?? 0),
  };
}

/** A node of a plan, and all below it. */
export function nodesOf<N extends { readonly Plans?: readonly N[] }>(node: N): N[] {
  return [node, ...(node.Plans ?? []).flatMap((below) => nodesOf(below))];
}

/** Figures of a node are those of one of its executions. */
function lookedAt(node: PlanNode): number {
  const { 'Actual Rows': found = 0, 'Actual Loops': loops = 0 } = node;
  return (
    (found + (node['Rows Removed by Filter'] ?? 0) + (node['Rows Removed by Index Recheck'] ?? 0)) * loops
  );
}

function given(sort: PlanNode): number {
  return (sort.Plans ?? []).reduce(
    (sum, { 'Actual Rows': rows = 0, 'Actual Loops': loops = 0 }) => sum + rows * loops,
    0,
  );
}
