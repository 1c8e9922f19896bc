/** What a delivery stack writes to its database and reads there: webhooks, events, deliveries and attempts. */
import type { Pool } from '../../../src/db/connection/pool.ts';
import { transaction } from '../../../src/db/transaction.ts';
import { deleteWebhook, replaceSecret, replaceWebhook, setActive } from '../../../src/db/webhooks/change.ts';
import { createWebhook } from '../../../src/db/webhooks/create.ts';
import { findWebhook, listWebhooks } from '../../../src/db/webhooks/webhooks.ts';
import type { StoredState } from '../../../src/domain/delivery-state.ts';
import type { EventType } from '../../../src/domain/event-types.ts';
import type { WebhookInput } from '../../../src/domain/webhook.ts';
import { type Keys, newWebhookSecret } from '../../../src/secrets/keys.ts';
import { sealing } from '../../../src/secrets/static-headers.ts';
import { deliveryWorkflowId, type NamedDelivery } from '../../../workflows/delivery-id.ts';
import { recordEvent } from '../database/record-event.ts';
import { testWebhook } from '../test-webhook.ts';
import { workflowIdOf } from './workflow-ids.ts';

export interface DeliveryRow {
  readonly id: string;
  readonly state: StoredState;
  readonly attemptsMade: number;
  readonly lastStatus: number | null;
  readonly lastError: string | null;
  readonly nextAttemptAt: Date | null;
  readonly windowStartedAt: Date | null;
  readonly lastAttemptAt: Date | null;
  readonly dispatchedAt: Date | null;
  readonly canceledBy: 'operator' | 'deletion' | null;
}

interface AttemptRow {
  readonly number: number;
  readonly outcome: string | null;
  readonly status: number | null;
  readonly error: string | null;
  readonly startedAt: Date;
  readonly finishedAt: Date | null;
  readonly generation: number;
  readonly nextAttemptAt: Date | null;
}

export type StackRecords = ReturnType<typeof createStackRecords>;

/** The records of one e-shop. */
export function createStackRecords(sql: Pool, eshopId: number, keys: Keys) {
  const fired = new Map<string, NamedDelivery>();

  const records = {
    /** Creates one as the API does. */
    async createWebhook(
      url: string,
      {
        type = 'CREATE_ORDER',
        of = eshopId,
        ...named
      }: Partial<WebhookInput> & { type?: EventType; of?: number } = {},
    ): Promise<{ id: number; secret: string }> {
      const secret = newWebhookSecret();
      const input = testWebhook({ url, webhookType: type, ...named });
      const seal = sealing(keys, of, { secret });
      const row = await createWebhook(sql, of, input, seal, 1_000);
      if (row === null) throw new Error('too many webhooks');
      return { id: row.id, secret };
    },

    /** An activation, a deactivation, a PUT with a new URL, or a deletion. */
    async changeWebhook(
      id: number,
      change: { readonly active: boolean } | { readonly url: string } | { readonly deleted: true },
    ): Promise<void> {
      if ('deleted' in change) await deleteWebhook(sql, eshopId, id);
      else if ('active' in change) await setActive(sql, eshopId, id, change.active);
      else {
        const before = await findWebhook(sql, eshopId, id);
        if (before === null) throw new Error(`no webhook ${id}`);
        await replaceWebhook(sql, eshopId, id, { ...before, ...change });
      }
    },

    /** Sets a new secret; by default the previous one goes on signing beside it. */
    async replaceSecret(id: number, overlap = true): Promise<string> {
      const secret = newWebhookSecret();
      await replaceSecret(sql, eshopId, id, keys.encryptSecret(secret, { eshopId, webhookId: id }), overlap);
      return secret;
    },

    /** Deletes all webhooks so far, so that the next test's events reach only its own. */
    async retireWebhooks(): Promise<void> {
      for (const { id } of await listWebhooks(sql, eshopId, null)) {
        await deleteWebhook(sql, eshopId, id);
      }
    },

    /** Fires an event; returns the ids of the deliveries that its transaction has written. */
    async fire(
      entityId: string,
      record: object = { eshopOrderId: entityId },
      type: EventType = 'CREATE_ORDER',
    ) {
      const made = await transaction(sql, async (tx) => {
        await recordEvent(tx, { eshopId, type, entityId, record });
        return await tx<NamedDelivery[]>`
          select id, webhook_id, event_type, entity_id from deliveries
          where xmin = pg_current_xact_id()::xid order by id`;
      });
      for (const row of made) fired.set(row.id, row);
      return made.map(({ id }) => id);
    },

    /** Fires an event that has exactly one delivery. */
    async fireOne(entityId: string, record?: object): Promise<string> {
      const [id, ...others] = await records.fire(entityId, record);
      if (id === undefined || others.length > 0) throw new Error('expected exactly one delivery');
      return id;
    },

    async delivery(id: string): Promise<DeliveryRow> {
      const [row] = await sql<DeliveryRow[]>`select * from deliveries where id = ${id}`;
      if (row === undefined) throw new Error(`no delivery ${id}`);
      return row;
    },

    attempts: (id: string): Promise<AttemptRow[]> =>
      sql<AttemptRow[]>`select * from attempts where delivery_id = ${id} order by number`,

    async webhook(id: number) {
      const [row] = await sql<
        { active: boolean; generation: number; unregisteredAt: Date | null }[]
      >`select active, generation, unregistered_at from webhooks where id = ${id}`;
      if (row === undefined) throw new Error(`no webhook ${id}`);
      return row;
    },

    /** The workflow id of a delivery fired here. */
    workflowId(id: string): string {
      const delivery = fired.get(id);
      if (delivery === undefined) throw new Error(`delivery ${id} was not fired by this stack`);
      return deliveryWorkflowId(delivery);
    },

    /** The workflow id of any delivery. */
    anyWorkflowId: async (id: string): Promise<string> =>
      fired.has(id) ? records.workflowId(id) : await workflowIdOf(sql, id),
  };
  return records;
}
