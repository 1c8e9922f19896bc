/** What the reconciler checks: what is late, what operators ended, and everything. */
import pThrottle from 'p-throttle';
import type { Logger } from 'pino';
import { eachLimited } from '../lib/each-limited.ts';
import { isRefusal } from '../temporal/refusal.ts';
import { countsOf, summary } from './counts.ts';
import type { Executions } from './executions.ts';
import { createRecords, type RecordsDeps, type TrackedRecord } from './records.ts';
import { type Repair, repair } from './repair.ts';

export interface PassesOptions extends RecordsDeps {
  readonly executions: Executions;
  readonly log: Logger;
  readonly onRepair?: (repair: Repair) => void;
  /** True: nothing is changed. Default false. */
  readonly dryRun?: boolean;
  /** Ends a pass early. */
  readonly signal: AbortSignal;
}

export interface PassResult {
  /** Records checked. */
  readonly looked: number;
  readonly repairs: readonly Repair[];
}

/** The passes; each throws when Temporal or the database cannot be reached. */
export interface Passes {
  /** Some of the records whose next step is past. */
  late(): Promise<PassResult>;
  /** The deliveries whose workflow was terminated or canceled lately. */
  endedExternally(): Promise<PassResult>;
  /** Those with these workflow ids, as far as they are open. */
  these(workflowIds: readonly string[]): Promise<PassResult>;
  /** Every record. @param why for the log */
  everything(why: string): Promise<PassResult>;
}

/** Checks under way at once, and per second: a sweep over everything must not be felt by deliveries. */
const CONCURRENCY = 10;
const CHECKS_PER_SECOND = 200;
/** How far the list of workflows may lag behind, and Temporal's clock behind ours, in milliseconds. */
const LIST_LAG_MS = 2 * 60_000;
const CLOCK_LAG_MS = 10 * 60_000;
/** Workflows of the list that are looked up in the database at once. */
const LIST_BATCH = 1_000;

export function createPasses(options: PassesOptions): Passes {
  const { executions, log, onRepair, dryRun = false, signal } = options;
  const records = createRecords(options);
  const check = pThrottle({ limit: CHECKS_PER_SECOND, interval: 1_000 })((record: TrackedRecord) =>
    repair(executions, record, dryRun),
  );
  /** Workflows that were woken: the next look at what is late looks whether that did anything. */
  const woken: string[] = [];
  /** From here on the list is read. */
  let listedUntil = new Date(Date.now() - CLOCK_LAG_MS);

  async function repairAll(tracked: readonly TrackedRecord[], repairs: Repair[]): Promise<void> {
    let away = false;
    await eachLimited(tracked, CONCURRENCY, async (record) => {
      // Once Temporal has not answered, the rest need not wait for its deadline as well.
      if (away || signal.aborted) return;
      try {
        const done = await check(record);
        if (done === null) return;
        repairs.push(done);
        onRepair?.(done);
        if (done.action === 'woken') woken.push(record.workflowId);
        const { kind, reason, action, name, by, words } = done;
        log.info({ repaired: kind, reason, action, ...name, by, words }, 'repaired');
      } catch (error) {
        // This one is refused, and the next may well be taken: it must not stop the others.
        if (!isRefusal(error)) {
          away = true;
          throw error;
        }
        log.error({ ...record.name, err: error }, 'Temporal refused the repair of a record');
      }
    });
  }

  /** Wakes workflows that wait although their delivery is over: some of them nothing else would ever end. */
  async function wakeClosed(repairs: Repair[]): Promise<void> {
    for await (const batch of inBatches(executions.running())) {
      if (signal.aborted) return;
      await repairAll(await records.closedOf(batch.map(({ workflowId }) => workflowId)), repairs);
    }
  }

  /** One line for a pass that repaired something, however it ended. */
  async function pass(why: string, work: (repairs: Repair[]) => Promise<number>): Promise<PassResult> {
    const repairs: Repair[] = [];
    try {
      return { looked: await work(repairs), repairs };
    } finally {
      if (repairs.length > 0 && !dryRun) {
        const counts = countsOf(repairs);
        log.warn({ why, repairs: counts }, `reconciled: ${summary(counts)}`);
      }
    }
  }

  return {
    late: () =>
      pass('late', async (repairs) => {
        const before = [...woken];
        const again = [...(await records.withWorkflows(before)), ...(await records.closedOf(before))];
        const tracked = [...again, ...(await records.late())];
        // Once all have answered: a database that was away has them looked at the next time.
        woken.splice(0, before.length);
        await repairAll(tracked, repairs);
        return tracked.length;
      }),

    endedExternally: () =>
      pass('ended from outside', async (repairs) => {
        let latest = listedUntil.getTime() + LIST_LAG_MS;
        let looked = 0;
        for await (const batch of inBatches(executions.endedExternally(listedUntil))) {
          latest = Math.max(latest, ...batch.map(({ closedAt }) => closedAt.getTime()));
          const tracked = await records.withWorkflows(batch.map(({ workflowId }) => workflowId));
          looked += tracked.length;
          await repairAll(tracked, repairs);
        }
        listedUntil = new Date(latest - LIST_LAG_MS);
        return looked;
      }),

    these: (workflowIds) =>
      pass('claimed again', async (repairs) => {
        const tracked = await records.withWorkflows(workflowIds);
        await repairAll(tracked, repairs);
        return tracked.length;
      }),

    everything: (why) =>
      pass(why, async (repairs) => {
        let looked = 0;
        for await (const page of records.all()) {
          if (signal.aborted) break;
          looked += page.length;
          await repairAll(page, repairs);
        }
        await wakeClosed(repairs);
        return looked;
      }),
  };
}

/** Listed workflows, as many at once as are looked up in the database at once. */
async function* inBatches<Listed>(listed: AsyncIterable<Listed>): AsyncGenerator<readonly Listed[]> {
  let batch: Listed[] = [];
  for await (const each of listed) {
    batch.push(each);
    if (batch.length < LIST_BATCH) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}
