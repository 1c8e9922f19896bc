/**
 * Repairs one record: asks Temporal, then the database again, then acts. Any worker may repeat a step: a workflow id runs once, and a
 * delivery is closed once.
 */
import type { TemporalPause } from '../domain/operator-pause.ts';
import type { Former } from '../temporal/workflow-calls.ts';
import type { Executions } from './executions.ts';
import type { TrackedRecord } from './records.ts';
import type { Stalls } from './stalls.ts';
import { type TrackedKind, type Verdict, verdictOn, type WorkflowFound } from './verdict.ts';

/** A repair that was made, or would be. */
export interface Repair extends Verdict {
  readonly kind: TrackedKind;
  /** The record's identifiers in log lines. */
  readonly name: TrackedRecord['name'];
  /** The identity that ended its workflow, and the reason given, if Temporal knows them. */
  readonly by?: string;
  readonly comment?: string;
}

/**
 * @param onPaused called for a late record whose workflow an operator has paused: it is left alone
 * @returns null if all is well, or another worker was first
 */
export async function repair(
  executions: Executions,
  stalls: Stalls,
  record: TrackedRecord,
  dryRun: boolean,
  onPaused: (pause: TemporalPause) => void,
): Promise<Repair | null> {
  const found = await executions.find(record.workflowId);
  if (found.as === 'running' && found.pause !== undefined && record.next === 'late') onPaused(found.pause);
  const verdict = await confirmed(executions, stalls, record, verdictOn(record.kind, found, record.next));
  if (verdict === null || !(await record.isStillTracked())) return null;
  const { kind, name } = record;
  const done: Repair = { kind, ...verdict, name, ...operatorOf(found) };
  if (dryRun) return done;
  switch (verdict.action) {
    case 'startedAgain':
      return (await record.restart(formerOf(found))) ? done : null;
    case 'closed':
      return (await record.endedByOperator()) ? done : null;
    case 'woken':
      await record.wake();
      return done;
  }
}

/** A workflow that was woken before without an effect is started again instead, and one at work only if it stands still for long. */
async function confirmed(
  executions: Executions,
  stalls: Stalls,
  { workflowId }: TrackedRecord,
  verdict: Verdict | null,
): Promise<Verdict | null> {
  if (verdict?.reason === 'stalled') return (await stalls.isStalled(workflowId)) ? verdict : null;
  if (verdict?.action !== 'woken' || !(await executions.isUnresponsive(workflowId))) return verdict;
  return { reason: 'stuck', action: 'startedAgain' };
}

function formerOf({ as }: WorkflowFound): Former {
  if (as === 'missing' || as === 'running') return as;
  return 'ended';
}

function operatorOf(found: WorkflowFound): Pick<Repair, 'by' | 'comment'> {
  if (found.as !== 'terminated' && found.as !== 'canceled') return {};
  const { by, comment } = found;
  return { ...(by === '' ? {} : { by }), ...(comment === '' ? {} : { comment }) };
}
