/**
 * Checks that attempts come in order, and only once unless a fault met the attempt in flight; none early, none later
 * than outages and grace allow, none after the window.
 */
import { ownedMs } from '../../src/attempt/ownership.ts';
import { jitteredWait, maxAttempts, type RetryPolicy } from '../../src/domain/retry-policy.ts';
import { SPREAD_MS } from '../../src/domain/webhook-pause.ts';
import type { DeliveryRow, Evidence } from '../evidence.ts';
import type { Logbook, Outage, WebhookPause } from '../logbook.ts';
import type { Arrival } from '../receivers.ts';
import { withOutages } from './outages.ts';
import { arrivalsOf, endOf, title } from './outcomes.ts';
import { type Violation, violation } from './violation.ts';

/** The time in which a response is recorded, as a part of the grace: a fault in it still leads to a repetition. */
const RECORDING = 1 / 5;
/** Its upper bound, regardless of the checker's grace, in milliseconds. */
const MAX_RECORDING_MS = 4_000;
/** Tolerance for two clocks and for the time in which a receiver notices a request, in milliseconds. */
const EARLY_MS = 1_000;
/** How far the time of a signature may be from its arrival, in milliseconds: receivers allow five minutes. */
const SIGNATURE_MS = 60_000;

/** One delivery, and what delayed it. */
interface Story {
  readonly policy: RetryPolicy;
  readonly logbook: Logbook;
  /** Of its webhook. */
  readonly pauses: readonly WebhookPause[];
  /** Of the recovery that created it. */
  readonly recoveryPauses: readonly WebhookPause[];
  /** With the pauses of its webhook: retries scheduled in Temporal resume with jitter. */
  readonly outages: readonly Outage[];
  /** The end of its window, in milliseconds since 1970. */
  readonly windowEndsAt: number;
}

/** One request of a delivery. All times in milliseconds. */
interface Step {
  readonly arrival: Arrival;
  readonly previous: Arrival | undefined;
  /** When it should have come without any outage, since 1970; null if that is unknown. */
  readonly due: number | null;
  /** Time lost before it to outages and a busy machine, and not made up for: later waits are shortened by it. */
  readonly lostMs: number;
  /** All lost time, also what was made up for. */
  readonly lateInAllMs: number;
}

/** Says what is wrong with a request; undefined if nothing is. */
type Rule = (step: Step, story: Story) => string | undefined;

const RULES: readonly Rule[] = [
  withinNumber,
  afterItsPredecessor,
  repeatedByFault,
  oneAtATime,
  notEarly,
  outsidePauses,
  afterRecoveryPauses,
  signedInTime,
];
/** Those that a machine too busy for its round breaks as well. */
const LATENESS_RULES: readonly Rule[] = [notLate, withinWindow];

/** Checks the requests of one delivery. */
export function checkAttempts(policy: RetryPolicy, logbook: Logbook, evidence: Evidence, row: DeliveryRow) {
  const receiver = evidence.receivers.find(({ webhookId }) => webhookId === row.webhookId);
  if (receiver === undefined || receiver.unseen === true) return { repeated: 0, latestMs: 0, violations: [] };
  const arrivals = arrivalsOf(receiver, row.id);
  const ofWebhook = ({ webhookId }: WebhookPause) => webhookId === row.webhookId;
  const pauses = logbook.pauses.filter(ofWebhook);
  const story: Story = {
    policy,
    logbook,
    pauses,
    recoveryPauses: logbook.recoveryPauses.filter(ofWebhook),
    outages: [...logbook.outages, ...pauses.map(({ from, to }) => ({ from, to: to + SPREAD_MS }))],
    windowEndsAt:
      (arrivals[0]?.at ?? 0) + policy.windowMs + pauses.reduce((sum, { from, to }) => sum + (to - from), 0),
  };
  const steps = stepsOf(story, row, arrivals);
  const name = title(receiver, row);
  const broken = (kind: Violation['kind'], rules: readonly Rule[]) =>
    steps.flatMap((step) =>
      rules.flatMap((rule) => rule(step, story) ?? []).map((text) => violation(kind, `${name}: ${text}`)),
    );
  return {
    repeated: steps.filter(isRepeated).length,
    latestMs: Math.max(0, ...steps.map(({ arrival, due }) => (due === null ? 0 : arrival.at - due))),
    violations: [...broken('wrong', RULES), ...broken('late', LATENESS_RULES)],
  };
}

function stepsOf({ policy, logbook }: Story, row: DeliveryRow, arrivals: readonly Arrival[]): Step[] {
  let [lostMs, lateInAllMs] = [0, 0];
  return arrivals.map((arrival, index) => {
    const previous = arrivals[index - 1];
    const requestedAt = logbook.requestedAttempts.get(row.id);
    const wasRequested =
      requestedAt !== undefined && requestedAt <= arrival.at && requestedAt >= (previous?.at ?? 0);
    const due = wasRequested ? requestedAt : plan(policy, logbook, row, previous, arrival.number);
    const step = { arrival, previous, due, lostMs, lateInAllMs };
    // The window begins with the first attempt.
    if (due !== null && arrival.number > 1) {
      lostMs = Math.max(0, lostMs + arrival.at - due);
      lateInAllMs += Math.max(0, arrival.at - due);
    }
    return step;
  });
}

/** When this attempt should come without any outage; null if that is unknown. */
function plan(
  policy: RetryPolicy,
  logbook: Logbook,
  row: DeliveryRow,
  previous: Arrival | undefined,
  number: number,
) {
  if (previous === undefined) {
    const { eventType, entityId } = row;
    return logbook.accepted.find((each) => each.type === eventType && each.entityId === entityId)?.at ?? null;
  }
  // Its owner may have died. Nobody else makes the attempt while it could still be at its receiver.
  if (number === previous.number) return previous.at + ownedMs(policy);
  return endOf(previous, policy) + jitteredWait(policy, row.id, previous.number);
}

function isRepeated({ arrival, previous }: Step): boolean {
  return arrival.number === previous?.number;
}

function withinNumber({ arrival: { number } }: Step, { policy }: Story) {
  const most = maxAttempts(policy);
  return number > most ? `attempt ${number} of at most ${most}` : undefined;
}

function afterItsPredecessor({ arrival: { number }, previous }: Step) {
  const before = previous?.number ?? 0;
  return number === before || number === before + 1 ? undefined : `attempt ${number} after attempt ${before}`;
}

function repeatedByFault(step: Step, { logbook }: Story) {
  const { arrival, previous } = step;
  if (previous === undefined || !isRepeated(step) || inFlight(previous, logbook)) return undefined;
  return `attempt ${arrival.number} made again although no fault hit it`;
}

function oneAtATime({ arrival, previous }: Step, { logbook }: Story) {
  if (previous === undefined || !Number.isFinite(previous.endedAt)) return undefined;
  if (arrival.at >= overAt(previous, logbook)) return undefined;
  return `attempt ${arrival.number} came while attempt ${previous.number} was at its receiver`;
}

function notLate({ arrival, previous, due }: Step, { logbook, outages }: Story) {
  if (due === null) return undefined;
  const lateMs = arrival.at - withOutages(due, previous?.at ?? due, arrival.at, outages);
  if (lateMs <= logbook.graceMs) return undefined;
  return `attempt ${arrival.number} came ${Math.round(lateMs)} ms beyond plan and outage`;
}

/**
 * The first attempt may precede the response to the e-shop, if the API dies in between and the e-shop repeats its
 * request. A repeated attempt may follow at once, if its owner has given it up.
 */
function notEarly(step: Step, { policy, windowEndsAt }: Story) {
  const { arrival, previous, due, lostMs, lateInAllMs } = step;
  if (due === null || previous === undefined || isRepeated(step)) return undefined;
  // Towards the window's end, all lost time shortens the waits, which also leave time for the last attempt.
  const atItsEnd = due > windowEndsAt - policy.attemptTimeoutMs;
  const roomMs = Math.min(policy.attemptTimeoutMs, policy.windowMs / 20);
  const earlyMs = due - arrival.at;
  if (earlyMs <= EARLY_MS + (atItsEnd ? lateInAllMs + roomMs : lostMs)) return undefined;
  return `attempt ${arrival.number} came ${Math.round(earlyMs)} ms before its time`;
}

/** An attempt held up by an outage or a pause at the end of the window has its last chance right after it. */
function withinWindow({ arrival }: Step, { logbook: { graceMs }, outages, windowEndsAt }: Story) {
  let endsAt = windowEndsAt;
  for (const { from, to } of outages.toSorted((one, other) => one.from - other.from))
    if (from <= endsAt + graceMs) endsAt = Math.max(endsAt, to);
  const overMs = arrival.at - endsAt - graceMs;
  return overMs > 0 ? `attempt ${arrival.number} came ${Math.round(overMs)} ms after its window` : undefined;
}

function outsidePauses({ arrival }: Step, { pauses }: Story) {
  return isWithin(arrival, pauses) ? `attempt ${arrival.number} came during a pause` : undefined;
}

function afterRecoveryPauses({ arrival, previous }: Step, { recoveryPauses }: Story) {
  if (previous !== undefined || !isWithin(arrival, recoveryPauses)) return undefined;
  return 'its first attempt came while its recovery was paused';
}

function signedInTime({ arrival }: Step, { logbook }: Story) {
  const offMs = arrival.signedAt - arrival.at;
  if (logbook.workerClockWrong || Math.abs(offMs) <= SIGNATURE_MS) return undefined;
  return `attempt ${arrival.number} was signed for a time ${offMs} ms off`;
}

function isWithin({ at }: Arrival, pauses: readonly WebhookPause[]): boolean {
  return pauses.some(({ from, to }) => at > from + EARLY_MS && at < to);
}

/** When a request ended: at its response, or when its sender gave up while a busy machine delayed its receiver. */
function overAt({ endedAt, leftAt }: Arrival, { outages }: Logbook): number {
  if (leftAt === undefined) return endedAt;
  const died = outages.some(({ from, to }) => leftAt >= from - EARLY_MS && leftAt <= to);
  return died ? endedAt : Math.min(endedAt, leftAt);
}

/** Whether a fault met the attempt before its result was recorded. */
function inFlight({ at, endedAt }: Arrival, { outages, graceMs }: Logbook): boolean {
  const recordedBy = endedAt + Math.min(RECORDING * graceMs, MAX_RECORDING_MS);
  return outages.some(({ from, to, graceful }) => graceful !== true && at <= to && recordedBy >= from);
}
