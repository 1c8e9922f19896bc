/** Batch mode: the rules that keep a delivery with one owner. */
import type { Defect } from '../defect.ts';

const records = (...tests: string[]) => [{ file: 'test/db/batch-records.test.ts', tests }];
const ATTEMPTS = 'src/db/webhooks/attempts.ts';
const RETURNS = 'src/db/webhooks/batch-returns.ts';

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
    text: ' and a.owner = r.owner',
    replacement: '',
    noticed:
      'The failure of a worker that was given up counts, while another one has the same attempt under way.',
    caughtBy: records('an execution that another one has followed records no failure'),
  },
  {
    name: 'batch-hands-nothing-back',
    file: ATTEMPTS,
    text: `        \${batch === null ? sql\`\` : requeueing(sql, batch, sql\`f.outcome <> 'success'\`, sql\`f."nextAttemptAt"\`)}\n`,
    replacement: '',
    noticed: 'What fails in a burst is not attempted again.',
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
      'what a batch holds is requeued, and what is under way is left to its result for as long as that may take',
    ),
  },
  {
    name: 'batch-claimed-again-for-another',
    file: 'src/db/outbox/claim.ts',
    text: 'coalesce(d.batch_id,',
    replacement: `coalesce(\${batchId}::uuid, d.batch_id,`,
    noticed: 'After a relay died two batches make the same deliveries.',
    caughtBy: records('a claim of what was claimed for a batch leaves it in that batch'),
  },
];
