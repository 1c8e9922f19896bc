/** Sessions of other programs in the same database: locks held for a while, an old snapshot, a late commit. */
import { createPool } from '../../src/db/connection/pool.ts';
import { type Transaction, transaction } from '../../src/db/transaction.ts';
import { later } from '../../test/support/later.ts';
import { type Fault, type Scene, usual } from '../fault.ts';
import { release, releases } from './postgres.ts';
import { beginRecovering, isRecovered, recordLost } from './recovery.ts';

/** The number of events to recover that are committed before the recovery begins, and after. */
const EARLY = 30;
const LATE = 20;

/** Begins a transaction in a session of its own, which stays open once `work` is done, until its {@link release}. */
async function hold(scene: Scene, work: (tx: Transaction) => Promise<unknown>): Promise<void> {
  const session = createPool(scene.stack.postgres.url, 1, { statementMs: null, silenceMs: null });
  const [ended, end] = later();
  await new Promise<void>((worked, failed) => {
    const committed = transaction(session, async (tx) => {
      await work(tx);
      worked();
      await ended;
    });
    committed.catch(failed);
    releases.set(scene, async () => {
      end();
      await committed;
      await session.end({ timeout: 1 });
    });
  });
}

function held(name: string, statement: string, of: Partial<Fault> = {}): Fault {
  return {
    ...usual,
    group: 'other sessions',
    name,
    lasts: [3_000, 12_000],
    inject: (scene) => hold(scene, (tx) => tx.unsafe(statement)),
    heal: release,
    finish: release,
    ...of,
  };
}

/** The ids of its events are older than their commit: readers by id must not skip them. */
const openWriter: Fault = {
  group: 'other sessions',
  name: 'events committed late in a recovery',
  policies: ['scaled', 'hours'],
  injectionPoints: ['recovered 1', 'recovered 15'],
  harmless: true,
  lasts: [2_000, 8_000],
  async prepare(scene) {
    // Like a process of Waybill that is delayed between a change and its commit.
    await hold(scene, (tx) => recordLost(tx, scene, 'late', LATE));
    await transaction(scene.stack.sql, (tx) => recordLost(tx, scene, 'early', EARLY));
    await beginRecovering(scene, EARLY);
  },
  heal: release,
  settle: (scene) => isRecovered(scene, EARLY + LATE),
  finish: release,
};

export const otherSessionFaults: readonly Fault[] = [
  held('deliveries locked', 'lock table deliveries in access exclusive mode'),
  held('webhooks locked', 'lock table webhooks in access exclusive mode'),
  held('deliveries locked against writes', 'lock table deliveries in share mode'),
  held('events locked against writes', 'lock table events in share mode'),
  held('rows of deliveries locked', 'select from deliveries for update'),
  held('rows of webhooks locked', 'select from webhooks for update'),
  held('old snapshot', 'set transaction isolation level repeatable read; select count(*) from deliveries', {
    harmless: true,
  }),
  openWriter,
];
