/**
 * What the lists of events and deliveries promise: that a cursor misses nothing, and that absence is explained.
 */
import type { Defect } from '../defect.ts';

const deliveries = (...tests: string[]) => [{ file: 'test/api/all-deliveries.test.ts', tests }];
const events = (...tests: string[]) => [{ file: 'test/api/events.test.ts', tests }];
const late = (whose: string) =>
  `from a cursor on what is committed later than what is younger, ${whose}, is not missed`;

const RECORDS = [
  {
    file: 'test/db/lists-by-index.test.ts',
    tests: [
      'of a record that many events tell of, a rare state costs what is in that state, and any other filter what is shown',
    ],
  },
];

export const listDefects: readonly Defect[] = [
  {
    name: 'deliveries-of-a-record-looked-for-at-each-webhook',
    file: 'src/db/webhooks/all-deliveries.ts',
    text: 'w)) is true`',
    replacement: 'w))`',
    noticed: 'Whoever asks what became of the stock of a product that sells well gets no answer.',
    caughtBy: RECORDS,
  },
  {
    name: 'rare-states-of-a-record-looked-for-at-each-event',
    file: 'src/db/webhooks/all-deliveries.ts',
    text: 'const MAX_EVENTS_ONE_BY_ONE = 1_000;',
    replacement: 'const MAX_EVENTS_ONE_BY_ONE = 1_000_000;',
    noticed: 'The failed deliveries of a product that sells well take seconds to be found.',
    caughtBy: RECORDS,
  },
  {
    name: 'cursor-waits-for-nobody',
    file: 'src/db/low-water-mark.ts',
    text: 'least(clock_timestamp(), min(xact_start))',
    replacement: 'coalesce(clock_timestamp(), min(xact_start))',
    noticed: 'A receiver that reconciles never learns of a delivery that took long to be written.',
    caughtBy: deliveries(
      late('in a transaction of ours'),
      late('by an operator'),
      late('in a transaction that has only read so far'),
    ),
  },
  {
    name: 'cursor-trusts-those-who-have-not-written',
    file: 'src/db/low-water-mark.ts',
    text: " or application_name = current_setting('application_name')",
    replacement: '',
    noticed: 'Under load a delivery is missed whose transaction had begun and not yet written.',
    caughtBy: deliveries(late('in a transaction that has only read so far')),
  },
  {
    name: 'unchanged-write-forgotten',
    file: 'src/db/records/write.ts',
    text: 'work.unchanged({',
    replacement: 'void ({',
    noticed: 'An e-shop waits for the event of a write that changed nothing, and is told nothing.',
    caughtBy: events('why nothing arrived the write changed nothing'),
  },
  {
    name: 'deactivation-of-another-time',
    file: 'src/domain/absence.ts',
    text: 'versions.findLastIndex(({ at }) => at <= event.at)',
    replacement: 'versions.length - 1',
    noticed: 'The reason is that of today, not that of the event.',
    caughtBy: events(
      'why nothing arrived the webhook was created later',
      'why nothing arrived the webhook had been deactivated on request; activated since, it still says so',
    ),
  },
];
