/** Handles each delivery once, and those of a record in order, with the help of the store and the order. */
import { Gone } from './answers.ts';
import type { Delivery } from './delivery.ts';
import type { CommonOptions, Handling } from './options.ts';
import { type Order, recordOf } from './order.ts';
import type { PayloadVersion } from './payloads.generated.ts';

/**
 * How long a delivery waits for the turn of its record, in milliseconds. Too low: if two deliveries come together,
 * one comes back half a minute later. Too high: the wait uses up the 15 seconds that the sender gives the
 * handler.
 */
const TURN_WAIT_MS = 2_000;
/**
 * The first pause between two requests for the turn, in milliseconds; each further one is twice as long, since an
 * order does not report the end of a turn. Too low: more requests. Too high: a longer wait behind a quick handler.
 */
const FIRST_PAUSE_MS = 25;

type Memory = Pick<CommonOptions<PayloadVersion>, 'order' | 'store'> & { readonly leaseMs: number };

/**
 * Takes a delivery unless a later one of its record was handled, one at a time: the next waits a little. Equal
 * sequences are left to the store: two events of one write have different ones, but an event may come by several
 * webhooks.
 */
export async function withOrdering(
  { order, store, leaseMs }: Memory,
  delivery: Delivery,
  handle: () => Promise<Handling>,
): Promise<Handling> {
  const record = recordOf(delivery);
  if (order === undefined || record === null) return await handle();
  const claimant = crypto.randomUUID();
  const last = await turnOf(() => order.begin(record, claimant, leaseMs));
  if (last === 'busy') return 'recordBusy';
  const release = () => order.release(record, claimant);
  let handling: Handling = 'stale';
  try {
    if (delivery.sequence >= last) handling = await handle();
    // It is settled: `reconcile` must not find it.
    else await store.done(delivery.id);
  } catch (problem) {
    // If the order fails too, the first error matters, and the turn expires by itself.
    await release().catch(() => {});
    throw problem;
  }
  // A repeat advances the order too: the process that handled it may have died in between.
  if (handling === 'handled' || handling === 'repeat')
    await order.advance(record, claimant, delivery.sequence);
  else await release();
  return handling;
}

/** Asks for a record's turn until it is free, or has been taken by others for too long. */
async function turnOf(begin: () => ReturnType<Order['begin']>): ReturnType<Order['begin']> {
  const end = performance.now() + TURN_WAIT_MS;
  for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs *= 2) {
    const last = await begin();
    const leftMs = end - performance.now();
    if (last !== 'busy' || leftMs <= 0) return last;
    await new Promise((resolve) => setTimeout(resolve, Math.min(pauseMs, leftMs)));
  }
}

/**
 * Does the work if it was not done before, and remembers that it is done. A crash in the middle leaves a claim that
 * expires.
 * @throws the error of the work: in that case nothing is remembered, unless it is `Gone`
 */
export async function once(
  { store, leaseMs }: Memory,
  id: string,
  work: () => Promise<unknown>,
): Promise<Handling> {
  const claimant = crypto.randomUUID();
  const claim = await store.claim(id, claimant, leaseMs);
  if (claim !== 'claimed') return claim === 'done' ? 'repeat' : 'busy';
  try {
    await work();
  } catch (problem) {
    if (problem instanceof Gone) await store.done(id);
    // If the store fails too, the first error matters, and the claim expires by itself.
    else await store.release(id, claimant).catch(() => {});
    throw problem;
  }
  await store.done(id);
  return 'handled';
}
