/**
 * Repairs one workflow: asks Temporal, then the database again, and then acts. Any worker may repeat a step: Temporal
 * runs one workflow of an id, and a delivery is closed only once.
 */
import type { TemporalPause } from '../domain/operator-pause.ts';
import type { Former } from '../temporal/workflow-calls.ts';
import type { Executions } from './executions.ts';
import type { Stalls } from './stalls.ts';
import type { TrackedWorkflow } from './tracked-workflows.ts';
import { type TrackedKind, type Verdict, verdictOn, type WorkflowFound } from './verdict.ts';

/** A repair that was made, or that a dry run would make. */
export interface Repair extends Verdict {
  readonly kind: TrackedKind;
  /** The workflow's identifiers in log lines. */
  readonly name: TrackedWorkflow['name'];
  /** The identity that ended the workflow, and the reason that it gave, if Temporal knows them. */
  readonly by?: string;
  readonly comment?: string;
}

/**
 * @param onPaused called for a late workflow that an operator has paused: such a workflow is left alone
 * @returns null if nothing is wrong, or if another worker was first
 */
export async function repair(
  executions: Executions,
  stalls: Stalls,
  workflow: TrackedWorkflow,
  dryRun: boolean,
  onPaused: (pause: TemporalPause) => void,
): Promise<Repair | null> {
  const found = await executions.find(workflow.workflowId);
  if (found.as === 'running' && found.pause !== undefined && workflow.next === 'late') onPaused(found.pause);
  const verdict = await confirmed(
    executions,
    stalls,
    workflow,
    verdictOn(workflow.kind, found, workflow.next),
  );
  if (verdict === null || !(await workflow.isStillTracked())) return null;
  const { kind, name } = workflow;
  const done: Repair = { kind, ...verdict, name, ...operatorOf(found) };
  if (dryRun) return done;
  switch (verdict.action) {
    case 'startedAgain':
      return (await workflow.restart(formerOf(found))) ? done : null;
    case 'closed':
      return (await workflow.endedByOperator()) ? done : null;
    case 'woken':
      await workflow.wake();
      return done;
  }
}

/**
 * Confirms a verdict. A workflow that was woken before to no effect is started again instead. A workflow that a
 * worker is working on is started again only after it has stalled for a long time.
 */
async function confirmed(
  executions: Executions,
  stalls: Stalls,
  { workflowId }: TrackedWorkflow,
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
