/** Checks that every accepted change reached every webhook, or its failure is recorded, and nothing is left open. */
import { maxAttempts, type RetryPolicy } from '../../src/domain/retry-policy.ts';
import { counted } from '../../src/domain/text.ts';
import type { DeliveryRow, Evidence } from '../evidence.ts';
import type { Logbook, Outcome } from '../logbook.ts';
import type { Arrival, Receiver } from '../receivers.ts';
import { type Violation, violation } from './violation.ts';

/** How far the end of a window may be from where its first request puts it, in milliseconds. */
const WINDOW_TOLERANCE_MS = 1_000;

/** The requests of one delivery, in the order of their arrival. */
export function arrivalsOf({ arrivals }: Receiver, deliveryId: string) {
  return arrivals.filter((arrival) => arrival.deliveryId === deliveryId).sort((a, b) => a.at - b.at);
}

/** When an attempt was over: at its receiver's response, or at the time-out. */
export function endOf({ at, endedAt }: Arrival, { attemptTimeoutMs }: RetryPolicy): number {
  return Math.min(endedAt, at + attemptTimeoutMs);
}

/** For sentences: "slow receiver, order-3 (…a1b2)". */
export function title(receiver: Receiver, { id, entityId }: DeliveryRow): string {
  return `${receiver.kind} receiver, ${entityId} (delivery …${id.slice(-6)})`;
}

/** Checks all expected deliveries. */
export function checkOutcomes(policy: RetryPolicy, logbook: Logbook, evidence: Evidence) {
  const violations: Violation[] = [];
  let accepted = 0;
  let delivered = 0;
  for (const receiver of evidence.receivers) {
    const due = logbook.accepted.filter(({ type }) => type === receiver.type);
    accepted += due.length;
    const rows = evidence.deliveries.filter(({ webhookId }) => webhookId === receiver.webhookId);
    for (const { entityId } of due) {
      const found = rows.filter((row) => row.entityId === entityId);
      const expected = due.filter((each) => each.entityId === entityId).length;
      if (found.length !== expected) {
        const text = `${receiver.kind} receiver, ${entityId}: ${found.length} deliveries instead of ${expected}`;
        violations.push(violation(found.length < expected ? 'lost' : 'wrong', text));
      }
    }
    for (const row of rows) {
      if (row.state === 'delivered') delivered += 1;
      violations.push(...checkDelivery(policy, logbook, receiver, row));
    }
    const known = new Set(rows.map(({ id }) => id));
    const strange = receiver.arrivals.filter(({ deliveryId }) => !known.has(deliveryId));
    if (strange.length > 0)
      violations.push(
        violation(
          'wrong',
          `${receiver.kind} receiver: ${strange.length} requests that belong to no delivery`,
        ),
      );
  }
  return { accepted, delivered, violations };
}

function expectedOutcomes(logbook: Logbook, receiver: Receiver, { id }: DeliveryRow): readonly Outcome[] {
  return (
    logbook.exceptions.get(id) ?? logbook.webhookExceptions.get(receiver.webhookId) ?? [receiver.outcome]
  );
}

/**
 * How a delivery that its receiver always fails may end: failed, unless an outage and the grace after it lasted until
 * the end of its window. Then an attempt after the window was its last chance, and the delivery has expired; but if
 * all attempts came within the window, it has failed.
 */
function endingsOfFailing(
  policy: RetryPolicy,
  { outages, pauses, graceMs }: Logbook,
  webhookId: number,
  arrivals: readonly Arrival[],
): readonly Outcome[] {
  const [first, last] = [arrivals[0], arrivals.at(-1)];
  if (first === undefined || last === undefined) return ['failed'];
  const paused = pauses.filter((each) => each.webhookId === webhookId);
  const endsAt = first.at + policy.windowMs + paused.reduce((sum, { from, to }) => sum + (to - from), 0);
  const atItsEnd = outages.filter(({ from, to }) => from < endsAt && to + graceMs >= endsAt);
  if (atItsEnd.length === 0) return ['failed'];
  // A request that a busy machine has delayed may have been sent before.
  if (atItsEnd.some(({ busy }) => busy === true)) return ['failed', 'expired'];
  if (last.at > endsAt + WINDOW_TOLERANCE_MS) return ['expired'];
  const spent = new Set(arrivals.map(({ number }) => number)).size === maxAttempts(policy);
  return spent && last.at < endsAt - WINDOW_TOLERANCE_MS ? ['failed'] : ['failed', 'expired'];
}

/** Whether an attempt got no response on a busy machine: its receiver may have read it too late, or never. */
function metBusyMachine(
  { attemptTimeoutMs }: RetryPolicy,
  { outages }: Logbook,
  arrivals: readonly Arrival[],
  { lastError }: DeliveryRow,
): boolean {
  if (lastError?.startsWith('no response') !== true) return false;
  const busy = outages.filter((each) => each.busy === true);
  if (arrivals.length === 0) return busy.length > 0;
  return busy.some(({ from, to }) =>
    arrivals.some(({ at }) => from <= at + attemptTimeoutMs && at - attemptTimeoutMs <= to),
  );
}

function checkDelivery(
  policy: RetryPolicy,
  logbook: Logbook,
  receiver: Receiver,
  row: DeliveryRow,
): Violation[] {
  const arrivals = arrivalsOf(receiver, row.id);
  const name = title(receiver, row);
  // On a busy machine the receiver was too slow, which is not Waybill's fault: the attempt had to fail, and the next
  // one may be hours away.
  const timedOut =
    receiver.outcome === 'delivered' &&
    row.attemptsMade > 0 &&
    (arrivals.some(({ at, endedAt }) => endedAt - at >= policy.attemptTimeoutMs) ||
      metBusyMachine(policy, logbook, arrivals, row));
  if (row.state === 'pending' || row.state === 'retrying') {
    if (timedOut && row.overdueMs !== null && row.overdueMs < logbook.graceMs) return [];
    const plan =
      row.overdueMs === null
        ? 'nothing planned'
        : row.overdueMs > 0
          ? `its attempt overdue by ${Math.round(row.overdueMs)} ms`
          : `its next attempt planned in ${Math.round(-row.overdueMs)} ms`;
    return [
      violation(
        'stuck',
        `${name}: still open after ${counted(row.attemptsMade, 'attempt')}, ${plan} (${row.lastError ?? 'no error'})`,
      ),
    ];
  }
  const endings = endingsOfFailing(policy, logbook, row.webhookId, arrivals);
  const allowed = expectedOutcomes(logbook, receiver, row).flatMap((outcome) =>
    outcome === 'failed' ? endings : [outcome],
  );
  if (timedOut) allowed.push(...endings);
  const outcome: Outcome = row.state === 'failed' && arrivals.at(-1)?.status === 410 ? 'gone' : row.state;
  if (!allowed.includes(outcome)) {
    const expected = allowed.join(' or ');
    const text = `${name}: ${outcome} after ${counted(row.attemptsMade, 'attempt')}, not ${expected} (${row.lastError ?? 'no error'})`;
    // It is lost if its receiver would have accepted it.
    return [violation(receiver.outcome === 'delivered' ? 'lost' : 'wrong', text)];
  }
  const taken = arrivals.some(({ status }) => status !== null && status >= 200 && status < 300);
  if (outcome === 'delivered' && !taken)
    return [violation('lost', `${name}: recorded as delivered, but its receiver took nothing`)];
  if (outcome !== 'failed' || timedOut) return [];
  const numbers = new Set(arrivals.map(({ number }) => number));
  const most = maxAttempts(policy);
  const seen = receiver.unseen === true ? most : numbers.size;
  if (seen === most && row.attemptsMade === most) return [];
  return [
    violation(
      'wrong',
      `${name}: failed after ${counted(numbers.size, 'attempt')} (recorded: ${row.attemptsMade}), not ${most}`,
    ),
  ];
}
