/**
 * Finds deliveries that never arrived, or arrived and were lost, by comparing the sender's log with the store, and
 * handles them.
 *
 * Missing deliveries are fetched from the log (`GET /deliveries/{id}/payload`) and given to the same handlers
 * instead of being redelivered: this works even if the webhook is inactive or the receiver cannot be reached from
 * outside, cannot deactivate anything, keeps the id (so that a late attempt is dropped as a repeat), and shows at
 * once whether it worked.
 */
import { BEGINNING, isOpen, type ListedDelivery, type WaybillApi } from './api.ts';
import { type Delivery, fieldsIn, isOrigin } from './delivery.ts';
import type { Receiver } from './options.ts';

/** How many missing deliveries are collected before they are handled. */
const MAX_HELD_DELIVERIES = 10_000;

/**
 * How many unsettled deliveries the next run asks for one by one, instead of reading the log again from the first of
 * them. Too low: the log is read again more often. Too high: a longer `after`, and as many
 * requests.
 */
const MAX_CARRIED = 100;
/** The size of the log's last page, in deliveries: reading it again is one request. */
const NEAR = 100;

/** A receiver, whatever its payload version. */
export type Reconcilable = Pick<Receiver, 'store' | 'handle' | 'handles'>;

/** The deliveries to look for, and where. */
export interface ReconcileOptions {
  readonly api: Pick<WaybillApi, 'deliveries' | 'delivery' | 'payload' | 'read'>;
  /** The `after` of the last run (default: from the oldest delivery in the log). */
  readonly after?: string | undefined;
  /** Only events from this time on, for a new receiver. */
  readonly since?: Date | undefined;
  /** The webhooks that call this receiver, if the e-shop has others too (default: all). */
  readonly webhooks?: readonly number[] | undefined;
  /** The ids of deliveries to set aside: never handled here, and no longer reported as failed. */
  readonly ignore?: readonly string[] | undefined;
  /** Stops before the next delivery. */
  readonly signal?: AbortSignal | undefined;
}

/** The result of a run. */
export interface Reconciled {
  /**
   * Store it and pass it to the next run: it says where to go on, and which earlier deliveries are not settled. An
   * opaque text of at most 4 KiB.
   */
  readonly after: string;
  /** Number of deliveries in the log for this receiver. */
  readonly seen: number;
  /** Deliveries that had not been handled before, and now are. */
  readonly recovered: readonly ListedDelivery[];
  /**
   * Deliveries that are still not handled: the handler threw, they are being handled elsewhere, or the log could not
   * be read. Tried again in the next run, unless they are in `ignore`.
   */
  readonly failed: readonly { readonly delivery: ListedDelivery; readonly problem: unknown }[];
  /** Number of open deliveries: left to the sender, and checked again in the next run. */
  readonly open: number;
}

/** The position of a delivery in the log. */
interface Place {
  /** The delivery before it, from which a later run can read it again; null if it is from before this run. */
  readonly before: string | null;
  /** How many deliveries this run had read before it. */
  readonly at: number;
}
interface Missing extends Place {
  readonly delivery: ListedDelivery;
}
interface Unsettled extends Place {
  readonly id: string;
}

/** The `after` of the next run. @param end of the log, and the number of deliveries up to there */
function nextAfter(unsettled: readonly Unsettled[], end: { readonly after: string; readonly rows: number }) {
  const sorted = [...unsettled].sort((a, b) => a.at - b.at);
  const readAgain = sorted.find(
    ({ before, at }, index) => before !== null && (at >= end.rows - NEAR || index >= MAX_CARRIED),
  );
  const carried = readAgain === undefined ? sorted : sorted.slice(0, sorted.indexOf(readAgain));
  return [readAgain?.before ?? end.after, ...carried.map(({ id }) => id)].join(',');
}

/**
 * Reads the log once.
 *
 * @example
 * const { after, recovered } = await reconcile(hooks, { api, after: await saved() });
 * await save(after);
 * @throws ApiError, or an error of the store, if the run cannot continue: nothing is lost, so start again
 */
export async function reconcile(hooks: Reconcilable, options: ReconcileOptions): Promise<Reconciled> {
  const { api, after = BEGINNING, since, webhooks, ignore = [], signal } = options;
  const [position = BEGINNING, ...carried] = after.split(',');
  const setAside = new Set(ignore);
  const recovered: ListedDelivery[] = [];
  const failed: Reconciled['failed'][number][] = [];
  /** Missing deliveries by event and webhook: a later one replaces an earlier one. */
  const missing = new Map<string, Missing>();
  const unsettled: Unsettled[] = [];
  let open = 0;
  let seen = 0;

  async function handleMissing(): Promise<void> {
    for (const { delivery, before, at } of missing.values()) {
      signal?.throwIfAborted();
      const problem = await handled(hooks, api, delivery).then(
        (real) => void (real && recovered.push(delivery)),
        (thrown: unknown) => ({ delivery, problem: thrown }),
      );
      if (problem !== undefined) {
        failed.push(problem);
        unsettled.push({ id: delivery.id, before, at });
      }
    }
    missing.clear();
  }
  function consider(delivery: ListedDelivery, isDone: boolean, place: Place): void {
    const { id, webhookId, eventId, webhookType } = delivery;
    if (webhooks?.includes(webhookId) === false || !hooks.handles(webhookType)) return;
    seen += 1;
    // This is a redelivery: the outcome of the earlier delivery no longer matters.
    const key = `${webhookId}/${eventId}`;
    missing.delete(key);
    // If it was superseded, a newer one was sent in its place.
    if (isDone || delivery.state === 'superseded' || setAside.has(id)) return;
    if (isOpen(delivery)) {
      open += 1;
      unsettled.push({ id, ...place });
    } else missing.set(key, { delivery, ...place });
  }

  const doneBefore = carried.length === 0 ? new Set<string>() : await hooks.store.handledOf(carried);
  for (const id of carried) {
    signal?.throwIfAborted();
    if (doneBefore.has(id)) continue;
    const delivery = await api.delivery(id);
    // Its webhook was deleted, with its deliveries.
    if (delivery !== null) consider(delivery, false, { before: null, at: -1 });
  }
  let cursor = { after: position, more: true };
  let before = position;
  let rows = 0;
  while (cursor.more) {
    signal?.throwIfAborted();
    const page = await api.deliveries(cursor.after, { since });
    const done = await hooks.store.handledOf(page.deliveries.map(({ id }) => id));
    for (const delivery of page.deliveries) {
      consider(delivery, done.has(delivery.id), { before, at: rows });
      before = delivery.id;
      rows += 1;
    }
    if (missing.size >= MAX_HELD_DELIVERIES) await handleMissing();
    cursor = page.cursor;
  }
  await handleMissing();
  return { after: nextAfter(unsettled, { after: cursor.after, rows }), seen, recovered, failed, open };
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
  const handling = await hooks.handle(delivery, json);
  if (handling === 'busy') throw new Error(`The delivery ${id} is being handled by somebody else.`);
  if (handling === 'recordBusy')
    throw new Error(`A delivery of the same record as ${id} is being handled by somebody else.`);
  return handling !== 'stale';
}
