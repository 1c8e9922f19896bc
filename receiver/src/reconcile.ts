/**
 * Finds what never came, or came and was lost, by comparing the sender's log with the store; and handles it.
 *
 * What is missing is fetched from the log (`GET /deliveries/{id}/payload`) and given to the same handlers, rather than
 * delivered again: that works while the webhook is inactive and while the receiver cannot be reached from outside,
 * can deactivate nothing, keeps the id (so that a late attempt is dropped as a repeat), and tells at once whether it
 * worked.
 */
import { BEGINNING, isOpen, type ListedDelivery, type WaybillApi } from './api.ts';
import type { Delivery } from './delivery.ts';
import type { Receiver } from './receiver.ts';

/** How many missing deliveries are held before they are handled. */
const MAX_HELD_DELIVERIES = 10_000;

/** A receiver, whatever its payload version. */
export type Reconcilable = Pick<Receiver, 'store' | 'take' | 'handles'>;

/** Where to look. */
export interface ReconcileOptions {
  readonly api: Pick<WaybillApi, 'deliveries' | 'payload' | 'read'>;
  /** The `after` of the last time (default: from the oldest delivery that the log has). */
  readonly after?: string | undefined;
  /** Only events from this time on, for a receiver that is new. */
  readonly since?: Date | undefined;
  /** The webhooks that call this receiver, where the e-shop has others too (default: all of them). */
  readonly webhooks?: readonly number[] | undefined;
  /** Stops before the next delivery. */
  readonly signal?: AbortSignal | undefined;
}

/** What was found. */
export interface Reconciled {
  /** To be kept, and given the next time: everything before it is settled. */
  readonly after: string;
  /** Deliveries in the log that are this receiver's. */
  readonly seen: number;
  /** What had not been handled, and is now. */
  readonly recovered: readonly ListedDelivery[];
  /** What still is not: the handler threw, somebody else is at it, or the log could not be read. Tried the next time. */
  readonly failed: readonly { readonly delivery: ListedDelivery; readonly problem: unknown }[];
  /** What the sender has not finished with: left to it, and looked at again the next time. */
  readonly open: number;
}

/** A delivery, and the one before it, at which the next walk begins if this one is not settled. */
interface Missing {
  readonly delivery: ListedDelivery;
  readonly before: string;
}

/**
 * Walks through the log once.
 *
 * @example
 * const { after, recovered } = await reconcile(hooks, { api, after: await saved() });
 * await save(after);
 * @throws ApiRefused, or what the store threw, where the walk itself cannot go on: nothing is lost, begin again
 */
export async function reconcile(hooks: Reconcilable, options: ReconcileOptions): Promise<Reconciled> {
  const { api, after = BEGINNING, since, webhooks, signal } = options;
  const recovered: ListedDelivery[] = [];
  const failed: Reconciled['failed'][number][] = [];
  /** Of each event, for each webhook, what is missing: a later delivery of it takes the place of an earlier one. */
  const missing = new Map<string, Missing>();
  /** Before the first delivery that is not settled; null while all are. */
  let unsettled: string | null = null;
  let open = 0;
  let seen = 0;

  const notSettled = (before: string) => {
    if (unsettled === null || before < unsettled) unsettled = before;
  };
  async function handleMissing(): Promise<void> {
    for (const { delivery, before } of missing.values()) {
      signal?.throwIfAborted();
      const problem = await handled(hooks, api, delivery).then(
        (real) => void (real && recovered.push(delivery)),
        (thrown: unknown) => ({ delivery, problem: thrown }),
      );
      if (problem !== undefined) {
        failed.push(problem);
        notSettled(before);
      }
    }
    missing.clear();
  }

  let cursor = { after, more: true };
  let before = after;
  while (cursor.more) {
    signal?.throwIfAborted();
    const page = await api.deliveries(cursor.after, { since });
    const done = await hooks.store.handledOf(page.deliveries.map(({ id }) => id));
    for (const delivery of page.deliveries) {
      const { id, webhookId, eventId, webhookType } = delivery;
      const previous = before;
      before = id;
      if (webhooks?.includes(webhookId) === false || !hooks.handles(webhookType)) continue;
      seen += 1;
      // A redelivery: what came of the earlier one no longer matters.
      const key = `${webhookId}/${eventId}`;
      missing.delete(key);
      if (done.has(id)) continue;
      if (isOpen(delivery)) {
        open += 1;
        notSettled(previous);
      } else {
        missing.set(key, { delivery, before: previous });
      }
    }
    if (missing.size >= MAX_HELD_DELIVERIES) await handleMissing();
    cursor = page.cursor;
  }
  await handleMissing();
  return { after: unsettled ?? cursor.after, seen, recovered, failed, open };
}

/**
 * @returns false for what no handler is to hear of: a test event, and what is out of date
 * @throws Error where it was not handled
 */
async function handled(
  hooks: Reconcilable,
  api: ReconcileOptions['api'],
  { id, eventId, webhookId, webhookType, entityId, sequence }: ListedDelivery,
): Promise<boolean> {
  const sent = await api.payload(id);
  // Its webhook was deleted meanwhile, and what it had with it.
  if (sent === null) throw new Error(`The delivery ${id} is no longer in the log.`);
  const { method, body, test = false } = sent;
  if (test) {
    await hooks.store.done(id);
    return false;
  }
  const delivery: Delivery = {
    id,
    eventId,
    webhookId,
    kind: webhookType,
    entityId,
    sequence,
    happenedAt: null,
    attempt: null,
    test: false,
    method,
    signedAt: null,
  };
  const json = async () => body ?? JSON.stringify(await api.read(delivery));
  const taken = await hooks.take(delivery, json);
  if (taken === 'busy') throw new Error(`The delivery ${id} is being handled by somebody else.`);
  return taken !== 'stale';
}
