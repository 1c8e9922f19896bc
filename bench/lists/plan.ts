/**
 * How Postgres answers a query: by which indexes, how many rows it looks at, and how many it sorts.
 * @module
 */
import type postgres from 'postgres';
import type { Pool } from '../../src/db/pool.ts';

/** A plan as `explain (analyze, format json)` tells it. */
interface PlanNode {
  readonly 'Node Type': string;
  readonly 'Relation Name'?: string;
  readonly 'Index Name'?: string;
  /** Absent where the query was not run. */
  readonly 'Actual Rows'?: number;
  readonly 'Actual Loops'?: number;
  readonly 'Rows Removed by Filter'?: number;
  readonly 'Rows Removed by Index Recheck'?: number;
  readonly Plans?: readonly PlanNode[];
}
type PlanRow = Readonly<Record<string, readonly [{ readonly Plan: PlanNode }]>>;

/** How a query was answered. */
export interface Plan {
  /** Tables that were read from their beginning to their end. */
  readonly scanned: readonly string[];
  readonly indexes: readonly string[];
  /** Rows of tables that were looked at, those included that did not fit. */
  readonly read: number;
  /** Rows that the largest sort was given. */
  readonly sorted: number;
}

/**
 * Tells how a query is answered.
 * @param run false: how the planner would answer it, without figures
 */
export async function planOf(sql: Pool, query: postgres.Fragment, run = true): Promise<Plan> {
  const [row] = await sql<PlanRow[]>`explain (analyze ${run ? sql`on` : sql`off`}, format json) ${query}`;
  const [plan] = Object.values(row ?? {})[0] ?? [];
  if (plan === undefined) throw new Error('There is no plan.');
  const nodes = nodesOf(plan.Plan);
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
  };
}

function nodesOf(node: PlanNode): PlanNode[] {
  return [node, ...(node.Plans ?? []).flatMap(nodesOf)];
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
