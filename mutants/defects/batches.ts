/** The rush lane: what keeps a delivery in one pair of hands. */
import type { Defect } from '../defect.ts';

const records = (...tests: string[]) => [{ file: 'test/db/batch-records.test.ts', tests }];
const batch = (...tests: string[]) => [{ file: 'test/workflow/batch.test.ts', tests }];
const killed = (...tests: string[]) => [{ file: 'test/faults/batch-killed.test.ts', tests }];
const ATTEMPTS = 'src/db/webhooks/attempts.ts';
const RETURNS = 'src/db/webhooks/batch-returns.ts';
const ENDED_BY_AN_OPERATOR =
  'a batch whose workflow was terminated: each that had not begun is handed back, the requests under way count, and the batch does not begin again';

export const batchDefects: readonly Defect[] = [
  {
    name: 'batch-begins-whoever-holds-it',
    file: ATTEMPTS,
    text: 'sql`d.batch_id is not distinct from ',
    replacement: 'sql`d.batch_id is distinct from d.id or d.batch_id = ',
    noticed: 'What one batch makes is made by another, or by a workflow of its own, at the same time.',
    caughtBy: records(
      'a batch begins an attempt of nothing that another batch holds, nor of what none holds',
      'a workflow of its own begins no attempt while a batch holds the delivery',
    ),
  },
  {
    name: 'batch-run-not-asked-for',
    file: ATTEMPTS,
    text: ` where id = \${batch.id} and run = \${batch.run})\`}`,
    replacement: ` where id = \${batch.id})\`}`,
    noticed: 'A worker that stood still for a while makes attempts that another one has made since.',
    caughtBy: records('a batch begins an attempt of nothing once another execution has taken the batch'),
  },
  {
    name: 'batch-gives-away-what-its-successor-has',
    file: RETURNS,
    text: `\${anyOf(sql, sql\`d.id\`, ids)} and exists (select from held_by_us)\``,
    replacement: `\${anyOf(sql, sql\`d.id\`, ids)}\``,
    noticed: 'A worker that comes to again takes away what another one has under way: it is sent twice.',
    caughtBy: records(
      'an execution that another one has followed hands nothing back, and puts nothing back: the other one has it under way',
    ),
  },
  {
    name: 'batch-records-failures-of-its-predecessor',
    file: ATTEMPTS,
    text: "and (r.outcome = 'success' or exists (select from held_by_us))",
    replacement: '',
    noticed:
      'The failure of a worker that was given up counts, while another one has the same attempt under way.',
    caughtBy: records('an execution that another one has followed records no failure'),
  },
  {
    name: 'batch-hand-backs-without-pace',
    file: 'src/relay/budget.ts',
    text: 'perSecond = overloaded()',
    replacement: 'perSecond = perSecond < 0',
    noticed:
      'After a rush the workflows of what failed in it start all at once, and fresh deliveries wait for them.',
    caughtBy: [
      {
        file: 'test/unit/scheduler.test.ts',
        tests: ['the background budget while overloaded it keeps its least'],
      },
    ],
  },
  {
    name: 'batch-hands-nothing-back',
    file: ATTEMPTS,
    text: `        \${batch === null ? sql\`\` : requeueing(sql, batch, sql\`f.outcome <> 'success'\`, sql\`f."nextAttemptAt"\`)}\n`,
    replacement: '',
    noticed: 'What fails in a rush is not attempted again.',
    caughtBy: records(
      'what a batch records is done where it was delivered, and back in the outbox where it was not, in one statement',
    ),
  },
  {
    name: 'batch-hands-back-what-is-under-way',
    file: RETURNS,
    text: 'and a.started_at > now() - make_interval',
    replacement: 'and a.started_at > now() + make_interval',
    noticed: 'Whoever terminates a batch makes its receivers get twice what is under way.',
    caughtBy: records(
      'what a batch holds is handed back, and what is under way is left to its result for as long as that may take',
    ),
  },
  {
    name: 'batch-dispatches-nothing',
    file: ATTEMPTS,
    text: '      dispatched_at = coalesce(d.dispatched_at, begun.started_at), claimed_until = null\n',
    replacement: '      claimed_until = null\n',
    noticed: 'What is under way is claimed again, and asked for again, until it has its result.',
    caughtBy: records('a batch begins an attempt of what it holds, which is dispatched with it'),
  },
  {
    name: 'batch-claimed-again-for-another',
    file: 'src/db/outbox/claim.ts',
    text: `batch_id = coalesce(d.batch_id, \${batchId}::uuid)`,
    replacement: `batch_id = coalesce(\${batchId}::uuid, d.batch_id)`,
    noticed: 'After a relay died two batches make the same deliveries.',
    caughtBy: records('a claim of what was claimed for a batch leaves it in that batch'),
  },
  {
    name: 'batch-claim-not-renewed',
    file: 'src/db/webhooks/batches.ts',
    text: `where batch_id = \${id} and state in ('pending', 'retrying') and dispatched_at is null\n`,
    replacement: `where batch_id = \${id} and state = 'delivered'\n`,
    noticed: 'In a rush at slow receivers the relay is busy with what batches hold already.',
    caughtBy: records(
      'what a batch holds stays claimed while one execution may begin it, and no longer once another may',
    ),
  },
  {
    name: 'batch-without-heartbeats',
    file: 'activities/batch-steps.ts',
    text: 'await withHeartbeat(context, () => makeBatch(deps, order, { stop, abort: abort.signal }))',
    replacement: 'await (withHeartbeat, makeBatch(deps, order, { stop, abort: abort.signal }))',
    noticed: 'Receivers that take longer than a few seconds get everything twice in a rush.',
    caughtBy: batch('a receiver that takes longer than a heartbeat is asked once'),
  },
  {
    name: 'batch-begins-again-after-its-termination',
    file: 'src/temporal/start-batch.ts',
    text: 'start(batchId, deliveries, WorkflowIdReusePolicy.REJECT_DUPLICATE, urgency)',
    replacement: 'start(batchId, deliveries, WorkflowIdReusePolicy.ALLOW_DUPLICATE, urgency)',
    noticed: 'A batch that an operator terminated begins again within seconds.',
    caughtBy: batch(ENDED_BY_AN_OPERATOR),
  },
  {
    name: 'batch-started-before-is-not-checked',
    file: 'src/relay/start.ts',
    text: 'if (!(await starter.startBatch(batchId, claimed, urgency))) await checkBatch(batchId);',
    replacement: 'await (checkBatch, starter.startBatch(batchId, claimed, urgency));',
    noticed: 'What a terminated batch had not begun waits until the reconciler finds it by itself.',
    caughtBy: batch(ENDED_BY_AN_OPERATOR),
  },
  {
    name: 'batch-canceled-before-its-worker-dies',
    file: 'workflows/deliver-batch.ts',
    text: '    if (!isCancellation(error) && !CancellationScope.current().consideredCancelled) throw error;\n',
    replacement: '    if (!isCancellation(error)) throw error;\n',
    noticed: 'A batch that was canceled begins again when its worker dies meanwhile.',
    caughtBy: killed(
      'canceled by an operator before its worker dies: each delivery continues in its own workflow, and the batch does not begin again',
    ),
  },
];
