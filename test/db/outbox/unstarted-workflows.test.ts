/** Deliveries that wait in the queue for their workflow while Temporal is slow or unavailable. */
import { beforeEach, describe, expect, test } from 'vitest';
import { createEshop } from '../../../src/db/accounts/eshops.ts';
import { claimDeliveries } from '../../../src/db/outbox/claim.ts';
import { CLASS } from '../../../src/db/outbox/outbox.ts';
import {
  countWithoutWorkflow,
  limitDelivered,
  retryFromQueue,
} from '../../../src/db/outbox/unstarted-workflows.ts';
import { fireDelivery } from '../../support/database/deliveries.ts';
import { insertWebhook } from '../../support/database/events.ts';
import { untilBlocked } from '../../support/database/lock-waits.ts';
import { databaseOfFile } from '../../support/lifetimes.ts';

const WINDOW_MS = 48 * 3_600_000;
let eshopId: number;
let webhookId: number;
const { sql } = await databaseOfFile();
beforeEach(async () => {
  await sql`truncate deliveries`;
  await sql`delete from settings where name = 'delivered without a workflow'`;
  ({ eshopId, webhookId } = await newWebhook());
});

async function newWebhook() {
  const eshop = await createEshop(sql, { name: 'Shop', email: 'shop@example.test' });
  return {
    eshopId: eshop.eshopId,
    webhookId: await insertWebhook(sql, eshop.eshopId, 'CREATE_ORDER'),
  };
}

describe('a retry that becomes due before its workflow has started', () => {
  const DUE = `class = ${CLASS.undelivered}, state = 'retrying', attempts_made = 3, next_attempt_at = now() + interval '9 seconds', window_started_at = now() - interval '1 hour'`;
  /** @param changes further changes, applied in turn, as SQL */
  async function waiting(...changes: string[]): Promise<string> {
    const id = await fireDelivery(sql, { eshopId, webhookId });
    for (const change of [DUE, ...changes])
      await sql.unsafe(`update deliveries set ${change} where id = '${id}'`);
    return id;
  }
  const rowOf = async (id: string) => {
    const [row] = await sql<{ class: number; dueAt: Date; nextAttemptAt: Date | null }[]>`
      select class, due_at, next_attempt_at from deliveries where id = ${id}`;
    return row;
  };

  test.each([
    ['due in seconds', 'id = id'],
    ['due for an hour', "next_attempt_at = now() - interval '1 hour'"],
    ['claimed by a dead process', "claimed_until = now() - interval '1 second'"],
  ])('is made from the queue: %s', async (_, change) => {
    const id = await waiting(change);
    const before = await rowOf(id);
    await retryFromQueue(sql, WINDOW_MS);
    expect(await rowOf(id)).toEqual({ ...before, class: CLASS.retry, dueAt: before?.nextAttemptAt });
  });

  test.each([
    ['it is not due yet', "next_attempt_at = now() + interval '20 seconds'"],
    ['no attempt is left', 'next_attempt_at = null'],
    ['an operator holds it', "operator_stop = 'hold'"],
    ['it was given up', "operator_stop = 'giveUp'"],
    ['a process starts its workflow', "claimed_until = now() + interval '5 seconds'"],
    ['Temporal has its workflow', 'dispatched_at = now()'],
    ['it was never attempted', "state = 'pending', attempts_made = 0"],
    ['it has ended', "state = 'failed'"],
    ['the window is over', "window_started_at = now() - interval '49 hours'"],
  ])('is left to its workflow if %s', async (_, change) => {
    const id = await waiting(change);
    const before = await rowOf(id);
    await retryFromQueue(sql, WINDOW_MS);
    expect(await rowOf(id)).toEqual(before);
  });

  test.each(['active = false', 'deleted_at = now()'])(
    'is left to its workflow if its webhook has %s',
    async (change) => {
      const id = await waiting();
      await sql.unsafe(`update webhooks set ${change} where id = ${webhookId}`);
      const before = await rowOf(id);
      await retryFromQueue(sql, WINDOW_MS);
      expect(await rowOf(id)).toEqual(before);
    },
  );

  test.each([
    ['fresh', 'id = id', CLASS.fresh],
    ['bulk', 'bulk = true', CLASS.bulk],
  ])(
    'a delivery whose first attempt was interrupted returns to the class in which it was written: %s',
    async (_, change, written) => {
      const never = "state = 'pending', attempts_made = 0, next_attempt_at = null, window_started_at = null";
      const late = await waiting(never, change, "due_at = now() - interval '11 seconds'");
      const recent = await waiting(never, change, "due_at = now() - interval '9 seconds'");
      await retryFromQueue(sql, WINDOW_MS);
      expect(await rowOf(late)).toMatchObject({ class: written, nextAttemptAt: null });
      expect(await rowOf(recent)).toMatchObject({ class: CLASS.undelivered });
    },
  );

  test('a delivery in another class stays there', async () => {
    const id = await waiting(`class = ${CLASS.blocked}`);
    await retryFromQueue(sql, WINDOW_MS);
    expect(await rowOf(id)).toMatchObject({ class: CLASS.blocked });
  });
});

describe('delivered deliveries that wait for their workflow', () => {
  const MOST = 10_000;
  interface Waiting {
    readonly eshopId: number;
    readonly webhookId: number;
  }

  /** Adds deliveries, the n-th n ms younger than the first. @param forSeconds how long the first has waited */
  async function deliver(
    count: number,
    of: Waiting = { eshopId, webhookId },
    forSeconds = 60,
  ): Promise<void> {
    await sql`
      insert into deliveries (id, event_id, eshop_id, webhook_id, event_type, entity_id, state, attempts_made, class, due_at)
      select gen_random_uuid(), gen_random_uuid(), ${of.eshopId}, ${of.webhookId}, 'CREATE_ORDER', n::text, 'delivered', 1,
        ${CLASS.delivered}, now() - make_interval(secs => ${forSeconds}) + n * interval '1 ms'
      from generate_series(1, ${count}::int) n`;
  }
  async function left(of: Waiting = { eshopId, webhookId }): Promise<number> {
    return (await sql`select from deliveries where webhook_id = ${of.webhookId} and dispatched_at is null`)
      .length;
  }

  test('may be ten thousand for up to an hour', async () => {
    await deliver(MOST, undefined, 3_500);
    await limitDelivered(sql);
    expect(await left()).toBe(MOST);
    expect(await countWithoutWorkflow(sql)).toBe(0);
  });

  test('are ranked only if there are too many, or one has waited for too long', async () => {
    const connection = await sql.reserve();
    // Too little to sort them in.
    await connection`set work_mem = '64kB'`;
    const sortsOnDisk = async () => {
      const count = async () => {
        await connection`select pg_stat_force_next_flush()`;
        const [row] = await connection<{ files: number }[]>`
          select temp_files::int as files from pg_stat_database where datname = current_database()`;
        return row?.files ?? Number.NaN;
      };
      const before = await count();
      await limitDelivered(connection);
      return (await count()) - before;
    };
    try {
      await deliver(MOST, undefined, 3_500);
      expect(await sortsOnDisk()).toBe(0);
      await sql`update deliveries set due_at = now() - interval '2 h' where entity_id = '1'`;
      expect(await sortsOnDisk()).toBeGreaterThan(0);
      expect(await left()).toBe(MOST - 1);
    } finally {
      await connection`reset work_mem`;
      connection.release();
    }
  });

  test('beyond ten thousand, the oldest of the largest e-shop get no workflow, and are counted', async () => {
    const few = await newWebhook();
    // Theirs have waited longest.
    await deliver(100, few, 600);
    await deliver(MOST - 97);
    await limitDelivered(sql);
    expect([await left(few), await left()]).toEqual([100, MOST - 100]);
    const [oldest] = await sql`
      select min(entity_id::int)::int as entity_id from deliveries where webhook_id = ${webhookId} and dispatched_at is null`;
    expect(oldest).toEqual({ entityId: 4 });
    expect(await countWithoutWorkflow(sql)).toBe(3);
    await deliver(2, few);
    await limitDelivered(sql);
    expect([await left(few), await left()]).toEqual([102, MOST - 102]);
    expect(await countWithoutWorkflow(sql)).toBe(5);
  });

  test('two e-shops with equally many lose equally many', async () => {
    const other = await newWebhook();
    for (const each of [other, { eshopId, webhookId }]) await deliver(MOST / 2 + 10, each);
    await limitDelivered(sql);
    expect([await left(other), await left()]).toEqual([MOST / 2, MOST / 2]);
  });

  test('after more than an hour they get no workflow, however few there are', async () => {
    const few = await newWebhook();
    await deliver(3, few, 3_601);
    await deliver(5);
    await limitDelivered(sql);
    expect([await left(few), await left()]).toEqual([0, 5]);
    expect(await countWithoutWorkflow(sql)).toBe(3);
  });

  test('other classes are left alone, and so are deliveries whose workflow is being started', async () => {
    await deliver(4, undefined, 7_200);
    await sql`update deliveries set class = ${CLASS.undelivered} where entity_id = '1'`;
    await sql`update deliveries set class = ${CLASS.retry} where entity_id = '2'`;
    await sql`update deliveries set claimed_until = now() + interval '5 seconds' where entity_id = '3'`;
    await limitDelivered(sql);
    const rows = await sql<{ entityId: string }[]>`
      select entity_id from deliveries where dispatched_at is null order by entity_id`;
    expect(rows.map(({ entityId }) => entityId)).toEqual(['1', '2', '3']);
    expect(await countWithoutWorkflow(sql)).toBe(1);
  });

  test('two processes at the same moment each count their own', async () => {
    await deliver(MOST + 20);
    const first = await sql.reserve();
    try {
      await first`begin`;
      await limitDelivered(first);
      const second = limitDelivered(sql);
      await untilBlocked(sql);
      await first`commit`;
      await second;
    } finally {
      first.release();
    }
    expect(await left()).toBe(MOST);
    expect(await countWithoutWorkflow(sql)).toBe(20);
  });

  test('a delivery that a process is claiming is left alone', async () => {
    await deliver(1, undefined, 7_200);
    const claiming = await sql.reserve();
    try {
      await claiming`begin`;
      const { deliveries } = await claimDeliveries(claiming, { class: CLASS.delivered, limit: 1 });
      expect(deliveries).toHaveLength(1);
      const limited = limitDelivered(sql);
      await untilBlocked(sql);
      await claiming`commit`;
      await limited;
    } finally {
      claiming.release();
    }
    expect(await left()).toBe(1);
    expect(await countWithoutWorkflow(sql)).toBe(0);
  });
});
