/** How Postgres answers a query: which indexes it uses, and how many rows it reads and sorts. */
import postgres from 'postgres';
import type { Pool } from '../../../src/db/pool.ts';

/** A plan as Postgres logs it. */
interface PlanNode {
  readonly 'Node Type': string;
  readonly 'Relation Name'?: string;
  readonly 'Index Name'?: string;
  /** Absent without figures, as are all below. */
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
  /** Tables that were read from beginning to end. */
  readonly scanned: readonly string[];
  readonly indexes: readonly string[];
  /** Rows of tables that were read, including those that did not match. */
  readonly read: number;
  /** The number of rows in the largest sort. */
  readonly sorted: number;
  /** Pages of tables and indexes that were read, counted each time. */
  readonly pages: number;
}

/** How a plan is made, and how much of it is reported. */
export interface PlanQuery {
  /** False: without figures. */
  readonly counts?: boolean;
  /** Settings of the planner in addition to the pool's. */
  readonly settings?: Readonly<Record<string, string>>;
}

/** Shows how queries are answered. */
export interface Planner {
  planOf(query: postgres.Fragment): Promise<Plan>;
  end(): Promise<void>;
}

/**
 * Reads the plans that queries really run with: a pool makes a generic one for all values.
 * @param url of the same database, as a superuser
 */
export async function createPlanner(
  url: string,
  sql: Pool,
  { counts = true, settings = {} }: PlanQuery = {},
): Promise<Planner> {
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

/** The figures of a node are per execution. */
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
