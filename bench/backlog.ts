/** A backlog of deliveries, written as the API writes them, and kept back until it is complete. */
import { createEshop } from '../src/db/accounts/eshops.ts';
import type { Pool } from '../src/db/connection/pool.ts';
import { type EventText, recordEvents } from '../src/db/outbox/events.ts';
import { type Transaction, transaction } from '../src/db/transaction.ts';
import { deleteWebhook } from '../src/db/webhooks/change.ts';
import { createWebhook } from '../src/db/webhooks/create.ts';
import { createKeys, newWebhookSecret } from '../src/secrets/keys.ts';
import { sealing } from '../src/secrets/static-headers.ts';
import { ordinaryOrder } from '../test/support/harness/ordinary-order.ts';
import { testWebhook } from '../test/support/test-webhook.ts';
import { untilNone } from './until-none.ts';

/** Deliveries that wait for their release. */
export interface Backlog {
  /** Writes this many, taking turns over all webhooks. */
  write(deliveries: number): Promise<void>;
  /** Makes all written deliveries claimable at the same moment, without waking the relay. */
  release(): Promise<void>;
  /** Wakes the relay, which would soon notice by itself. */
  wake(): void;
  /** Deletes its webhooks, and waits until none of its deliveries is open. */
  retire(patienceMs: number): Promise<void>;
}

/** The event types of an e-shop's webhooks: one webhook for each, so that an event has one delivery. */
const TYPES = [
  'CREATE_ORDER',
  'UPDATE_ORDER',
  'UPDATE_ORDER_STATUS',
  'CREATE_PRODUCT',
  'UPDATE_PRODUCT',
] as const;
/** The number of its webhooks. */
const WEBHOOKS = 100;
const EVENTS_PER_TRANSACTION = 200;

/** An order of ordinary size. */
export const benchRecord = (eshopOrderId: string) => ({
  eshopOrderId,
  status: 'preReceived',
  ...ordinaryOrder,
  recipientEmail: 'jana@example.com',
  orderProducts: Array.from({ length: 3 }, () => ({
    sku: 'BOOK-1',
    quantity: '2',
    unitPrice: '249.90',
    vatRate: '12',
    packingLists: [],
  })),
});

/**
 * Registers the webhooks, which all answer at once.
 * @param urlOf the receiver's URLs: every e-shop has its own host
 */
export async function createBacklog(
  sql: Pool,
  secretKey: Buffer,
  urlOf: (host: number) => string,
): Promise<Backlog> {
  const keys = createKeys(secretKey);
  const targets: { eshopId: number; webhookId: number; type: (typeof TYPES)[number] }[] = [];
  let eshopId = 0;
  for (let index = 0; index < WEBHOOKS; index += 1) {
    const type = TYPES[index % TYPES.length] ?? TYPES[0];
    if (type === TYPES[0])
      ({ eshopId } = await createEshop(sql, { name: 'Bench', email: 'bench@shop.example' }));
    const url = `${urlOf(Math.floor(index / TYPES.length))}/prompt`;
    const input = testWebhook({ url, webhookType: type });
    const owner = eshopId;
    const seal = sealing(keys, owner, { secret: newWebhookSecret() });
    const row = await createWebhook(sql, owner, input, seal, 1_000);
    if (row === null) throw new Error('Too many webhooks.');
    targets.push({ eshopId: owner, webhookId: row.id, type });
  }
  let written = 0;

  function nextEvent(): { readonly eshopId: number; readonly event: EventText } {
    const target = targets[written % targets.length];
    if (target === undefined) throw new Error('There is no webhook.');
    written += 1;
    const entityId = `bench-${written}`;
    const snapshot = JSON.stringify(benchRecord(entityId));
    const made = { origin: 'service', changed: null } as const;
    const event = { type: target.type, entityId, sequence: 1, happenedAt: null, snapshot, ...made };
    return { eshopId: target.eshopId, event };
  }

  /** Writes the events of an e-shop in one statement. */
  async function writeNext(tx: Transaction, events: number): Promise<void> {
    const byEshop = new Map<number, EventText[]>();
    for (const { eshopId, event } of Array.from({ length: events }, nextEvent))
      byEshop.set(eshopId, [...(byEshop.get(eshopId) ?? []), event]);
    for (const [owner, own] of byEshop) await recordEvents(tx, owner, own);
  }

  return {
    async write(deliveries) {
      for (const end = written + deliveries; written < end; ) {
        await transaction(sql, async (tx) => {
          await writeNext(tx, Math.min(EVENTS_PER_TRANSACTION, end - written));
          await tx`
            update deliveries set claimed_until = 'infinity' where dispatched_at is null and claimed_until is null
              and created_at = now()`;
        });
      }
    },
    async release() {
      await sql`update deliveries set claimed_until = null, created_at = now() where claimed_until = 'infinity'`;
    },
    wake: () => sql.notifier.notify(['fresh']),
    async retire(patienceMs) {
      for (const { eshopId: owner, webhookId } of targets) await deleteWebhook(sql, owner, webhookId);
      const ids = targets.map(({ webhookId }) => webhookId);
      await untilNone('open deliveries of deleted webhooks', patienceMs, async () => {
        const open = await sql`
          select from deliveries where webhook_id = any(${ids}) and state in ('pending', 'retrying') limit 1`;
        return open.length;
      });
    },
  };
}
