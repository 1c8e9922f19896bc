/** Sample data for an e-shop's console: working, failing and deactivated webhooks, their deliveries, and records. */
import type { TestApi } from './api.ts';
import { fullOrder, minimalOrder, stockedProducts } from './orders.ts';

/** Identifiers of the records worth a screenshot. */
export interface Seeded {
  readonly failing: number;
  readonly inactive: number;
  readonly retrying: string;
  readonly failed: string;
  readonly event: string;
}

/** Made through the API where possible; rows that only time would produce are written directly. */
export async function seedConsole(api: TestApi): Promise<Seeded> {
  const { sql, shop } = api;
  const webhook = async (
    webhookType: string,
    url: string,
    description: string | null = null,
  ): Promise<number> => {
    const made = await shop('POST', '/v21/webhooks', {
      url,
      webhookType,
      active: true,
      method: 'POST',
      payloadVersion: 'v21',
      description,
    });
    return made.data.id;
  };
  await stockedProducts(api.eshop);
  const well = await webhook('CREATE_ORDER', 'https://shop.example/hooks/orders', 'the ERP');
  const failing = await webhook(
    'UPDATE_ORDER',
    'https://erp.shop.example/waybill/orders/updated?source=warehouse&token=abc',
  );
  const inactive = await webhook('CREATE_RECEIVING', 'https://shop.example/hooks/receivings');
  for (let number = 10_001; number <= 10_012; number += 1) {
    await shop('POST', '/v21/orders', number === 10_001 ? fullOrder('10001') : minimalOrder(String(number)));
  }
  await shop('PATCH', '/v21/orders/10002', { note: 'leave it with the neighbor' });
  await shop('POST', '/v21/products', { sku: 'MUG', name: 'Blue mug', ean: '4006381333931' });
  await shop('POST', '/v21/receivings', {
    eshopReceivingId: 'R-1',
    supplier: 'Tea Import Ltd',
    products: [{ sku: 'TEA', quantity: 40 }],
  });
  await sql`
    update deliveries set state = 'delivered', attempts_made = 1, last_status = 200, dispatched_at = now(), window_started_at = now(),
      last_attempt_at = now(), finished_at = now() where webhook_id = ${well}`;
  await sql`
    insert into attempts (delivery_id, number, generation, started_at, finished_at, outcome, duration_ms, status)
    select id, 1, 1, now(), now(), 'success', 40 + (random() * 200)::int, 200 from deliveries where webhook_id = ${well}`;
  await sql`
    update deliveries set created_at = created_at - interval '40 minutes' * random() where webhook_id = ${well}`;
  const error = 'HTTP 503 from erp.shop.example after 212 ms';
  const [retrying] = await sql<{ id: string; eventId: string }[]>`
    update deliveries set created_at = now() - interval '3 minutes', state = 'retrying', attempts_made = 3, last_status = 503, last_error = ${error}, dispatched_at = now(),
      window_started_at = now() - interval '2 minutes', last_attempt_at = now(), next_attempt_at = now() + interval '56 seconds'
    where webhook_id = ${failing} returning id, event_id`;
  const [failed] = await sql<{ id: string }[]>`
    update deliveries set created_at = now() - interval '25 minutes', state = 'failed', attempts_made = 21, last_status = 500, last_error = 'HTTP 500 from shop.example after 31 ms',
      dispatched_at = now(), window_started_at = now() - interval '46 hours', last_attempt_at = now(), finished_at = now()
    where webhook_id = ${inactive} returning id`;
  if (retrying === undefined || failed === undefined) throw new Error('The deliveries were not made.');
  for (const [id, count, status] of [
    [retrying.id, 3, 503],
    [failed.id, 21, 500],
  ] as const) {
    await sql`
      insert into attempts (delivery_id, number, generation, started_at, finished_at, outcome, duration_ms, status, error, response_excerpt)
      select ${id}, n, 1, now() - interval '1 minute' * (${count} - n), now(), 'failure', 212, ${status}::int,
             ${`HTTP ${status} from the receiver after 212 ms`}, '<h1>Service unavailable</h1>'
      from generate_series(1, ${count}::int) n`;
  }
  await sql`
    insert into failures (webhook_id, generation, failures, since, until, last_error)
    values (${failing}, 1, 3, now() - interval '2 minutes', now(), ${error})`;
  await sql`update webhooks set active = false, unregistered_at = now() where id = ${inactive}`;
  await sql`
    insert into deactivations (webhook_id, generation, reason, at, delivery_id, last_error)
    values (${inactive}, 1, 'retriesExhausted', now(), ${failed.id}, 'HTTP 500 from shop.example after 31 ms')`;
  await sql`
    insert into notices (eshop_id, webhook_id, kind, generation, delivery_id, recipient, outcome, settled_at)
    select eshop_id, id, 'deactivated', 1, ${failed.id}::uuid, 'email', 'sent', now() from webhooks where id = ${inactive}`;
  return { failing, inactive, retrying: retrying.id, failed: failed.id, event: retrying.eventId };
}
