/**
 * Repairs one record: Temporal is asked, then the database again, then what is wrong is put right. Every step may be
 * repeated, by this worker or another: a workflow id runs once, and a delivery is closed once.
 * @module
 */
import type { Executions } from './executions.ts';
import type { OwedRecord } from './records.ts';
import { type Action, type Found, type Kind, type Reason, verdictOn } from './verdict.ts';

/** What was repaired, or would be. */
export interface Repair {
  readonly kind: Kind;
  readonly reason: Reason;
  readonly action: Action;
  /** What a log line calls the record. */
  readonly name: OwedRecord['name'];
  /** Who ended its workflow, and the reason given, where Temporal knows. */
  readonly by?: string;
  readonly words?: string;
}

/**
 * @param dryRun true: nothing is changed
 * @returns null where all is well, or another worker was first
 */
export async function repair(
  executions: Executions,
  record: OwedRecord,
  dryRun: boolean,
): Promise<Repair | null> {
  const found = await executions.find(record.workflowId);
  const verdict = verdictOn(record.kind, found, record.late);
  if (verdict === null || !(await record.stillOwed())) return null;
  const { kind, name } = record;
  const done: Repair = { kind, ...verdict, name, ...operatorOf(found) };
  if (dryRun) return done;
  switch (verdict.action) {
    case 'startedAgain':
      return (await record.restart(found.as !== 'missing')) ? done : null;
    case 'closed':
      return (await record.close()) ? done : null;
    case 'handedBack':
      return (await record.handBack()) ? done : null;
    case 'woken':
      await record.wake();
      return done;
  }
}

function operatorOf(found: Found): Pick<Repair, 'by' | 'words'> {
  if (found.as !== 'terminated' && found.as !== 'canceled') return {};
  const { by, words } = found;
  return { ...(by === '' ? {} : { by }), ...(words === '' ? {} : { words }) };
}
