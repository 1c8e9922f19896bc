/** Attempts come in order, once unless a fault met one in flight, none early, none late beyond outage and grace. */
import { ownedMs } from '../../src/attempt/ownership.ts';
import { jitteredWait, maxAttempts, type RetryPolicy } from '../../src/domain/retry-policy.ts';
import { SPREAD_MS } from '../../src/domain/webhook-pause.ts';
import type { DeliveryRow, Evidence } from '../evidence.ts';
import type { Ledger, WebhookPause } from '../ledger.ts';
import type { Arrival } from '../receivers.ts';
import { withOutages } from './outages.ts';
import { arrivalsOf, endOf, title } from './outcomes.ts';
import { type Violation, violation } from './violation.ts';

/** The time from a response to its record, as a part of the grace; a fault within it still leads to a repetition. */
const RECORDING = 1 / 5;
/** Its upper bound, regardless of the checker's grace, in milliseconds. */
const MAX_RECORDING_MS = 4_000;
/** Tolerance for two clocks and for the time in which a receiver notices a request, in milliseconds. */
const EARLY_MS = 1_000;
/** How far the time of a signature may be from its arrival, in milliseconds: receivers allow five minutes. */
const SIGNATURE_MS = 60_000;

/** Checks the requests of one delivery. */
export function checkAttempts(policy: RetryPolicy, ledger: Ledger, evidence: Evidence, row: DeliveryRow) {
  const violations: Violation[] = [];
  let repeated = 0;
  let latestMs = 0;
  /** Time lost to outages and to a busy machine so far: it is taken from the waits that follow. */
  let lostMs = 0;
  const receiver = evidence.receivers.find(({ webhookId }) => webhookId === row.webhookId);
  if (receiver === undefined || receiver.unseen === true) return { repeated, latestMs, violations };
  const arrivals = arrivalsOf(receiver, row.id);
  const name = title(receiver, row);
  const wrong = (text: string) => violations.push(violation('wrong', `${name}: ${text}`));
  const pauses = ledger.pauses.filter(({ webhookId }) => webhookId === row.webhookId);
  const windowEndsAt =
    (arrivals[0]?.at ?? 0) + policy.windowMs + pauses.reduce((sum, { from, to }) => sum + (to - from), 0);
  // What Temporal has planned resumes spread over this time.
  const outages = [...ledger.outages, ...pauses.map(({ from, to }) => ({ from, to: to + SPREAD_MS }))];

  let previous: Arrival | undefined;
  for (const arrival of arrivals) {
    const { number } = arrival;
    const before = previous?.number ?? 0;
    if (number > maxAttempts(policy)) wrong(`attempt ${number} of at most ${maxAttempts(policy)}`);
    if (number !== before && number !== before + 1) wrong(`attempt ${number} after attempt ${before}`);
    if (number === before && previous !== undefined) {
      repeated += 1;
      if (!inFlight(previous, ledger)) wrong(`attempt ${number} made again although no fault hit it`);
    }
    if (previous !== undefined && Number.isFinite(previous.endedAt) && arrival.at < overAt(previous, ledger))
      wrong(`attempt ${number} came while attempt ${before} was at its receiver`);
    const planned = plan(policy, ledger, row, previous, number);
    const ordered = ledger.ordered.get(row.id);
    const wasOrdered = ordered !== undefined && ordered <= arrival.at && ordered >= (previous?.at ?? 0);
    const due = wasOrdered ? ordered : planned;
    if (due !== null) {
      latestMs = Math.max(latestMs, arrival.at - due);
      const late = arrival.at - withOutages(due, previous?.at ?? due, arrival.at, outages);
      if (late > ledger.graceMs)
        wrong(`attempt ${number} came ${Math.round(late)} ms beyond plan and outage`);
      // The first may precede its response, if the API dies in between and the e-shop repeats the request; and
      // towards the window's end a wait may be shortened, as after lost time.
      const shortened = due > windowEndsAt - policy.attemptTimeoutMs || arrival.at >= due - EARLY_MS - lostMs;
      const follows = previous !== undefined && number !== before;
      if (arrival.at < due - EARLY_MS && follows && !shortened)
        wrong(`attempt ${number} came ${Math.round(due - arrival.at)} ms before its time`);
      // The window begins with the first.
      if (number > 1) lostMs = Math.max(0, lostMs + arrival.at - due);
    }
    const within = ({ from, to }: WebhookPause) => arrival.at > from + EARLY_MS && arrival.at < to;
    if (pauses.some(within)) wrong(`attempt ${number} came during a pause`);
    const recoveryPauses = ledger.recoveryPauses.filter(({ webhookId }) => webhookId === row.webhookId);
    if (previous === undefined && recoveryPauses.some(within))
      wrong('its first attempt came while its recovery was paused');
    const signedOff = arrival.signedAt - arrival.at;
    if (Math.abs(signedOff) > SIGNATURE_MS && !ledger.workerClockWrong)
      wrong(`attempt ${number} was signed for a time ${signedOff} ms off`);
    previous = arrival;
  }
  return { repeated, latestMs, violations };
}

/** When this attempt should come without any outage; null if that is unknown. */
function plan(
  policy: RetryPolicy,
  ledger: Ledger,
  row: DeliveryRow,
  previous: Arrival | undefined,
  number: number,
) {
  if (previous === undefined) {
    const { eventType, entityId } = row;
    return ledger.accepted.find((each) => each.type === eventType && each.entityId === entityId)?.at ?? null;
  }
  // Its owner may have died: no other makes it while it could still be at its receiver.
  if (number === previous.number) return previous.at + ownedMs(policy);
  return endOf(previous, policy) + jitteredWait(policy, row.id, previous.number);
}

/** When a request was over: answered, or given up by a living sender while a busy machine held its receiver up. */
function overAt({ endedAt, leftAt }: Arrival, { outages }: Ledger): number {
  if (leftAt === undefined) return endedAt;
  const died = outages.some(({ from, to }) => leftAt >= from - EARLY_MS && leftAt <= to);
  return died ? endedAt : Math.min(endedAt, leftAt);
}

/** Whether a fault met the attempt before its result was recorded. */
function inFlight({ at, endedAt }: Arrival, { outages, graceMs }: Ledger): boolean {
  const recordedBy = endedAt + Math.min(RECORDING * graceMs, MAX_RECORDING_MS);
  return outages.some(({ from, to, inOrder }) => inOrder !== true && at <= to && recordedBy >= from);
}
