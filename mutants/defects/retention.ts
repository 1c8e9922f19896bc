/** Retention: what may go, what must not, and what partitions must not cost. */
import type { Defect } from '../defect.ts';

const retention = (...tests: string[]) => [{ file: 'test/db/retention.test.ts', tests }];
const lookUps = (...tests: string[]) => [{ file: 'test/db/partition-lookups.test.ts', tests }];
const history = (...tests: string[]) => [{ file: 'test/db/webhook-history.test.ts', tests }];
const PARTITIONS = 'src/db/retention/partitions.ts';
const HISTORY = 'src/db/retention/webhook-history.ts';
const RETAIN = 'src/retention/retain.ts';

export const retentionDefects: readonly Defect[] = [
  {
    name: 'retention-drops-what-is-open',
    file: PARTITIONS,
    text: `o.state in ('pending', 'retrying')`,
    replacement: `o.state = 'pending'`,
    noticed: 'Deliveries under retry are gone with their week.',
    caughtBy: retention(
      'kept an open delivery keeps its partitions; what is finished beside it goes, and when it ends the rest',
    ),
  },
  {
    name: 'retention-drops-what-came-meanwhile',
    file: PARTITIONS,
    text: "if ((await countNeeded(tx, partition)) > 0) return 'needed';",
    replacement: '',
    noticed: 'A delivery that is written as its week is dropped is gone.',
    caughtBy: retention(
      'beside traffic a delivery that is being written as its week is dropped is not lost, and nobody waits for the drop',
    ),
  },
  {
    name: 'retention-forgets-mails',
    file: PARTITIONS,
    text: 'where x.delivery_id is not null and',
    replacement: 'where x.delivery_id is null and',
    noticed: 'The mail about a deactivation is never sent, since its delivery is gone.',
    caughtBy: retention(
      'kept the delivery whose deactivation is not mailed yet stays, with its event, until it is',
    ),
  },
  {
    name: 'retention-takes-the-event-of-a-younger-delivery',
    file: PARTITIONS,
    text: `from (\${needed(sql)}) d\n`,
    replacement: `from (\${needed(sql, week)}) d\n`,
    noticed: 'A redelivery of an old event has nothing to send.',
    caughtBy: retention('kept an event stays as long as a delivery of it is open, however young that one is'),
  },
  {
    name: 'retention-a-period-early',
    file: 'src/retention/plan.ts',
    text: 'now.getTime() - retentionMs',
    replacement: 'now.getTime()',
    noticed: 'Deliveries go when their week ends.',
    caughtBy: retention(
      'dropped a week goes when all of it is older than the retention, and no sooner; what is younger stays',
    ),
  },
  {
    name: 'retention-dry-run-drops',
    file: RETAIN,
    text: "if (outcome === 'dropped' && !dryRun) outcome =",
    replacement: "if (outcome === 'dropped') outcome =",
    noticed: 'Whoever only asks loses what is old.',
    caughtBy: retention('dropped a dry run says what would go and changes nothing'),
  },
  {
    name: 'retention-leaves-the-default-partition',
    file: RETAIN,
    text: '    await clear(table, week, cutoff);\n',
    replacement: '',
    noticed: 'What a wrong clock has dated stays for ever.',
    caughtBy: retention(
      'the default partition what no week will ever take goes when it was written long enough ago, unless it is open',
    ),
  },
  {
    name: 'retention-loses-what-a-week-takes-over',
    file: PARTITIONS,
    text: 'select * from strays`',
    replacement: 'select * from strays where false`',
    noticed: 'Deliveries dated by a clock that was ahead are gone when their week is made.',
    caughtBy: retention(
      'the default partition takes rows of a clock that is weeks ahead, and gives them back when their week is made',
    ),
  },
  {
    name: 'retention-makes-nothing-ahead',
    file: 'src/retention/plan.ts',
    text: '(WEEKS_AHEAD + 1) * WEEK_MS',
    replacement: '0 * WEEK_MS',
    noticed: 'Everything lands in the default partition as soon as the workers are away for a week.',
    caughtBy: retention(
      'made ahead four weeks are ready beside the present one, for each table, and making them again makes none',
    ),
  },
  {
    name: 'retention-forgets-the-first-page-only',
    file: 'src/db/retention/pages.ts',
    text: 'count === page && signal',
    replacement: 'count === page && changed === 0 && signal',
    noticed: 'An hour with more than 10,000 keyed lines is never caught up with.',
    caughtBy: retention(
      'kept keys of imported lines go after 30 days, however many there are, and however long deliveries are kept',
    ),
  },
  {
    name: 'retention-forgets-why-a-webhook-is-inactive',
    file: HISTORY,
    text: 'and (n.active or (n.deleted',
    replacement: 'and (true or (n.deleted',
    noticed: 'A webhook that was deactivated long ago is said to have been created inactive.',
    caughtBy: history(
      'versions one that was created inactive is still said to have been, and one deactivated long ago why',
    ),
  },
  {
    name: 'retention-forgets-what-an-old-event-needs',
    file: HISTORY,
    text: `where k.eshop_id = \${eshopId})`,
    replacement: `where false and k.eshop_id = \${eshopId})`,
    noticed: 'Why an event that is held for months reached no other webhook is told wrong.',
    caughtBy: history('versions an event that is kept beyond its time keeps what its e-shop was then'),
  },
  {
    name: 'retention-warns-once-more',
    file: HISTORY,
    text: 'or w.generation > x.generation\n',
    replacement: 'or w.generation >= x.generation\n',
    noticed: 'A webhook that fails for months is warned of again and again.',
    caughtBy: history(
      'deactivations and warnings nobody is warned twice of an incident that lasts for months',
    ),
  },
  {
    name: 'import-keys-never-forgotten',
    file: 'src/db/import-keys.ts',
    text: 'where import_keys.created_at < now()',
    replacement: 'where false and import_keys.created_at < now()',
    noticed: 'While the retention is paused, a key is remembered for longer than 30 days.',
    caughtBy: [
      {
        file: 'test/api/import.test.ts',
        tests: ['a key is another one in another e-shop, and forgotten after 30 days'],
      },
    ],
  },
  {
    name: 'partitions-all-read-for-an-id',
    file: 'src/db/ids.ts',
    text: ` and \${within(sql, column, ids)}\`;`,
    replacement: '`;',
    noticed: 'Every step of a delivery reads all weeks.',
    caughtBy: lookUps('one partition is read by markDispatched', 'one partition is read by closedAmong'),
  },
  {
    name: 'partitions-planned-each-time',
    file: 'src/db/pool.ts',
    text: `plan_cache_mode: 'force_generic_plan', `,
    replacement: '',
    noticed: 'A claim costs two to three times as much.',
    caughtBy: lookUps(
      'a statement is planned once per connection, and not again for the partition of each id',
    ),
  },
  {
    name: 'partitions-read-whole-while-small',
    file: 'src/db/pool.ts',
    text: `, enable_seqscan: 'off'`,
    replacement: '',
    noticed: 'Right after the first import each attempt reads all of what came with it.',
    caughtBy: lookUps('one partition is read by loadForAttempt', 'one partition is read by loadOfBatch'),
  },
  {
    name: 'list-without-a-limit',
    file: 'src/domain/record-size.ts',
    text: 'if (bytes <= MAX_LIST_BYTES) return;',
    replacement: 'if (bytes > 0) return;',
    noticed: 'Six lists of large records at once take all memory.',
    caughtBy: [
      {
        file: 'test/api/large-bodies.test.ts',
        tests: [
          'a list whose records are too large for one answer is refused, naming what always fits; that fits',
        ],
      },
    ],
  },
];
