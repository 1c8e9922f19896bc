/**
 * Finds deliveries that never arrived, or arrived and were lost, by comparing the sender's log with the store, and handles them.
 *
 * Missing deliveries are fetched from the log (`GET /deliveries/{id}/payload`) and given to the same handlers instead of being
 * redelivered: this works even if the webhook is inactive or the receiver cannot be reached from outside, cannot deactivate
 * anything, keeps the id (so that a late attempt is dropped as a repeat), and shows at once whether it worked.
 */
import { BEGINNING, isOpen, type ListedDelivery, type WaybillApi } from './api.ts';
import { type Delivery, fieldsIn, isOrigin } from './delivery.ts';
import type { Receiver } from './receiver.ts';

/** How many missing deliveries are collected before they are handled. */
const MAX_HELD_DELIVERIES = 10_000;

/** A receiver, whatever its payload version. */
export type Reconcilable = Pick<Receiver, 'store' | 'take' | 'handles'>;

/** Where to look. */
export interface ReconcileOptions {
  readonly api: Pick<WaybillApi, 'deliveries' | 'payload' | 'read'>;
  /** The `after` of the last run (default: from the oldest delivery in the log). */
  readonly after?: string | undefined;
  /** Only events from this time on, for a new receiver. */
  readonly since?: Date | undefined;
  /** The webhooks that call this receiver, if the e-shop has others too (default: all). */
  readonly webhooks?: readonly number[] | undefined;
  /** Stops before the next delivery. */
  readonly signal?: AbortSignal | undefined;
}

/** The result of a run. */
export interface Reconciled {
  /** Keep it and pass it to the next run: everything before it is settled. */
  readonly after: string;
  /** Number of deliveries in the log for this receiver. */
  readonly seen: number;
  /** Deliveries that had not been handled, and are now. */
  readonly recovered: readonly ListedDelivery[];
  /**
   * Deliveries that still are not: the handler threw, they are being handled elsewhere, or the log could not be read. Tried again
   * in the next run.
   */
  readonly failed: readonly { readonly delivery: ListedDelivery; readonly problem: unknown }[];
  /** Number of open deliveries: left to the sender, and checked again in the next run. */
  readonly open: number;
}

/** A delivery, and the one before it, from which the next run starts if this one is not settled. */
interface Missing {
  readonly delivery: ListedDelivery;
  readonly before: string;
}

/**
 * Reads the log once.
 *
 * @example
 * const { after, recovered } = await reconcile(hooks, { api, after: await saved() });
 * await save(after);
 * @throws ApiRefused, or an error of the store, if the run itself cannot continue: nothing is lost, start again
 */
export async function reconcile(hooks: Reconcilable, options: ReconcileOptions): Promise<Reconciled> {
  const { api, after = BEGINNING, since, webhooks, signal } = options;
  const recovered: ListedDelivery[] = [];
  const failed: Reconciled['failed'][number][] = [];
  /** Missing deliveries by event and webhook: a later one replaces an earlier one. */
  const missing = new Map<string, Missing>();
  /** The delivery before the first one that is not settled; null while all are. */
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
      // A redelivery: the outcome of the earlier delivery no longer matters.
      const key = `${webhookId}/${eventId}`;
      missing.delete(key);
      // Superseded: a newer one was sent in its place.
      if (done.has(id) || delivery.state === 'superseded') continue;
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
 * @returns false if no handler is called: for a test event, and for a delivery that is out of date
 * @throws Error if it was not handled
 */
async function handled(
  hooks: Reconcilable,
  api: ReconcileOptions['api'],
  { id, eventId, webhookId, webhookType, entityId, sequence, origin, changed }: ListedDelivery,
): Promise<boolean> {
  const sent = await api.payload(id);
  // Its webhook was deleted in the meantime, with its deliveries.
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
    origin: origin != null && isOrigin(origin) ? origin : null,
    changed: fieldsIn(changed ?? ''),
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
