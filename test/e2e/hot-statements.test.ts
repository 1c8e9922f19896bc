/**
 * Every statement that Waybill sends at work, as Postgres plans it among ten million deliveries: none reads a large
 * table whole, or costs enough to be compiled (JIT). Other versions: POSTGRES_PROGRAMS, see the global set-up.
 */
import { expect, onTestFinished, test } from 'vitest';
import { login } from '../support/api/client.ts';
import { seedLists } from '../support/database/lists/seed.ts';
import { exaggerate, ROWS } from '../support/database/plans.ts';
import { watchPlans } from '../support/database/statement-plans.ts';
import { createInstallation } from '../support/programs/installation.ts';
import { startProgram } from '../support/programs/program.ts';
import { nightly } from '../support/runner/nightly.ts';
import { createReceiver } from '../support/servers/receiver.ts';
import { until } from '../support/until.ts';

/** `jit_above_cost` of every version. */
const COMPILED_ABOVE = 100_000;
/** A table is large from this many rows on: a plan may well read all of an empty partition. */
const LARGE = 100_000;
/** Characters of a statement that suffice to recognize it. */
const SHOWN = 400;
const ORDERS = 20;
const LINES = 300;

const ways = [
  { workflows: 'all', pooled: true },
  { workflows: 'undelivered', pooled: false },
] as const;

test.each(nightly ? ways : ways.slice(0, 1))(
  'no statement reads a large table whole, or is compiled: WORKFLOWS=$workflows, pooled: $pooled',
  async ({ workflows, pooled }) => {
    const installation = await createInstallation();
    onTestFinished(installation.remove);
    const { sql, credentials, database, env } = installation;
    await seedLists(sql, ROWS);
    // Nothing of this is to be delivered.
    await sql`
      update deliveries set state = 'delivered', dispatched_at = now(), next_attempt_at = null
      where state not in ('delivered', 'failed', 'expired', 'canceled')`;
    await sql`
      insert into attempts (delivery_id, number, generation, started_at, finished_at, outcome, duration_ms, status)
      select id, 1, 1, created_at, created_at, 'success', 100, 200 from deliveries`;
    for (const table of ['deliveries', 'attempts']) await sql`vacuum analyze ${sql(table)}`;
    await exaggerate(sql);
    const rows = await sql<
      { name: string }[]
    >`select relname as name from pg_class where reltuples >= ${LARGE}`;
    const large = new Set(rows.map(({ name }) => name));
    expect([...large].join()).toMatch(/deliveries_.*events_|events_.*deliveries_/);
    const watched = await watchPlans(sql, database.url, pooled);
    onTestFinished(watched.close);
    const program = await startProgram({
      ...env,
      DATABASE_URL: watched.url,
      WORKFLOWS: workflows,
    });
    onTestFinished(async () => void (await program.stop()));
    const receiver = await createReceiver(({ count }) => ({ status: count % 10 === 0 ? 503 : 200 }));
    onTestFinished(receiver.close);

    const shop = await login(program.url, credentials);
    const made = async (method: string, path: string, body?: unknown) => {
      const answer = await shop.request(method, path, body);
      if (answer.statusCode !== 200) throw new Error(`${method} ${path}: ${answer.message}`);
      return answer.data;
    };
    const hook = { active: true, method: 'POST', url: `${receiver.url}/hook` };
    const { id } = await made('POST', '/webhooks', { ...hook, webhookType: 'CREATE_ORDER' });
    await made('POST', '/webhooks', { ...hook, webhookType: 'UPDATE_ORDER', ordering: 'record' });
    await made('POST', '/webhooks', { ...hook, webhookType: 'CREATE_STOCK_MOVEMENT_STOCK_CORRECTION' });
    for (let index = 0; index < ORDERS; index += 1) {
      const { statusCode, message } = await shop.createOrder(`O-${index}`, { status: 'preOrder' });
      if (statusCode !== 200) throw new Error(message);
      await made('PATCH', `/orders/O-${index}`, { note: 'changed' });
    }
    const warehouse = await login(program.url, { ...credentials, ...credentials.warehouse });
    const line = {
      operation: 'stockMovement',
      body: { type: 'stock_correction', sku: 'MUG-BLUE', count: 1 },
    };
    const imported = await fetch(`${program.url}/v21/warehouse/events/import`, {
      method: 'POST',
      headers: { ...warehouse.headers, 'content-type': 'application/x-ndjson' },
      body: `${JSON.stringify(line)}\n`.repeat(LINES),
    });
    expect((await imported.text()).trim().split('\n')).toHaveLength(LINES);
    const delivered = () =>
      until('everything to be delivered', async () => {
        const [row] = await sql<{ open: number }[]>`
          select count(*)::int as open from deliveries where eshop_id = ${credentials.eshopId} and state <> 'delivered'`;
        return row?.open === 0;
      });
    await delivered();
    const [latest] = await made('GET', '/deliveries?items=5');
    await made('GET', `/deliveries/${latest.id}`);
    await made('GET', `/events?items=5&webhookType=CREATE_ORDER`);
    await made('GET', `/webhooks/${id}/deliveries?items=5&state=delivered`);
    await made('PUT', `/webhooks/${id}/deactivate`);
    await shop.createOrder('missed');
    await made('PUT', `/webhooks/${id}/activate`);
    await made('POST', `/webhooks/${id}/recover`, { since: new Date(Date.now() - 60_000).toISOString() });
    await made('POST', `/deliveries/${latest.id}/redeliver`);
    await delivered();

    const plans = watched.plans();
    expect(plans.length).toBeGreaterThan(60);
    const wrong = plans
      .map(({ text, scanned, ...plan }) => ({
        text: text.replaceAll(/\s+/g, ' ').slice(0, SHOWN),
        ...plan,
        scanned: scanned.filter((table) => large.has(table)),
      }))
      // Our own sessions have no JIT, and a plan for all values is overestimated: cost counts only with a pooler.
      .filter(
        ({ scanned, cost, compiled }) => scanned.length > 0 || compiled || (pooled && cost > COMPILED_ABOVE),
      );
    expect(wrong).toEqual([]);
  },
);
