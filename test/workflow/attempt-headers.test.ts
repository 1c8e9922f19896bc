/** The headers of an attempt and their signatures, however it is made (docs/interface.md, D4 and D11). */
import { expect, test } from 'vitest';
import { recordEvents } from '../../src/db/outbox/events.ts';
import { redeliver } from '../../src/db/outbox/redeliver.ts';
import { beginRecovery } from '../../src/db/recoveries/recoveries.ts';
import { transaction } from '../../src/db/transaction.ts';
import { receiverOfTest, stackOfTest } from '../support/lifetimes.ts';
import type { ReceivedRequest } from '../support/servers/receiver.ts';
import { signedBy } from '../support/signed-by.ts';

const happenedAt = '2026-11-20T10:42:07.310Z';
const said = ({ headers }: ReceivedRequest, ...names: readonly string[]) =>
  names.map((name) => headers[`x-service-${name}`]);

test.each([
  ['under light load', {}],
  ['in a burst', { calmPerSecond: 0 }],
])(
  '%s, an event has the same headers at each webhook, on retries, redelivered and recovered',
  async (_, scheduler) => {
    const stack = await stackOfTest('attempt-headers', { scheduler });
    const receiver = await receiverOfTest(({ count }) => ({ status: count === 1 ? 503 : 200 }));
    const { sql, eshopId } = stack;
    const webhooks = [
      await stack.createWebhook(receiver.url),
      await stack.createWebhook(`${receiver.url}/o/`, { method: 'GET' }),
    ];
    const [webhook = { id: 0, secret: '' }] = webhooks;
    const snapshot = '{"eshopOrderId":"10001","orderProducts":[]}';
    await transaction(sql, (tx) =>
      recordEvents(tx, eshopId, [
        {
          type: 'CREATE_ORDER',
          entityId: '10001',
          sequence: 41,
          happenedAt,
          snapshot,
          origin: 'shop',
          changed: 'note,paid',
        },
      ]),
    );
    stack.notify();
    const rows = await sql<{ id: string; eventId: string; webhookId: number }[]>`
      select id, event_id, webhook_id from deliveries order by webhook_id`;
    for (const { id } of rows) await stack.untilState(id, 'delivered');
    const [first = { id: '', eventId: '', webhookId: 0 }] = rows;

    const again = await redeliver(sql, eshopId, first.id);
    if (again.kind !== 'created') throw new Error(`not created: ${again.kind}`);
    stack.notify();
    await stack.untilState(again.id, 'delivered');

    await sql`update deliveries set state = 'failed' where webhook_id = ${webhook.id}`;
    const begun = await beginRecovery(sql, {
      eshopId,
      webhookId: webhook.id,
      since: new Date(Date.now() - 3_600_000),
      until: null,
      include: ['failed'],
    });
    if (begun.kind !== 'begun') throw new Error('expected a new recovery');
    stack.notify();
    await stack.until('the recovered delivery', () => Promise.resolve(receiver.requests.length === 5));

    for (const request of receiver.requests) {
      const by = webhooks.find(({ id }) => String(id) === request.headers['x-service-webhook']);
      expect(said(request, 'event', 'event-id', 'event-time', 'sequence', 'origin', 'changed')).toEqual([
        'CREATE_ORDER',
        first.eventId,
        happenedAt,
        '41',
        'shop',
        'note,paid',
      ]);
      expect(signedBy(by?.secret ?? '', request)).toEqual(['v1', 'v2', 'v3']);
      const stranger = webhooks.find((each) => each !== by);
      expect(signedBy(stranger?.secret ?? '', request)).toEqual([]);
    }
    const sent = receiver.requests.map((request) => said(request, 'webhook', 'attempt').join(' '));
    const [one, two] = webhooks.map(({ id }) => String(id));
    expect(sent.filter((each) => each.endsWith(' 2'))).toHaveLength(1);
    expect(sent.filter((each) => each.startsWith(`${one} `)).length).toBeGreaterThanOrEqual(3);
    expect(sent.filter((each) => each.startsWith(`${two} `)).length).toBeGreaterThanOrEqual(1);
    // Each delivery has its own id.
    expect(new Set(receiver.requests.map(({ headers }) => headers['x-service-delivery'])).size).toBe(4);
    const sequences = await sql<{ sequence: number }[]>`select sequence::int as sequence from deliveries`;
    expect(sequences.map(({ sequence }) => sequence)).toEqual([41, 41, 41, 41]);
  },
);
