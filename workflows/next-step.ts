/** Decides the next step of a delivery by its present situation alone. Pure: every case is a line of a table test. */
import type { OpenSituation } from '../src/attempt/situation.ts';

/** The next step of an open delivery; times in milliseconds since 1970. */
type NextStep =
  /** An attempt is under way elsewhere: nothing can be decided before its result. */
  | { readonly step: 'waitForResult'; readonly until: number }
  | { readonly step: 'cancel' }
  | { readonly step: 'giveUp' }
  | { readonly step: 'compensate' }
  | { readonly step: 'expire'; readonly alarm: boolean }
  | { readonly step: 'beginHolding' }
  | { readonly step: 'hold'; readonly until: number }
  | { readonly step: 'waitForNextAttempt'; readonly until: number }
  | { readonly step: 'attempt'; readonly lastChance: boolean };

/** Decides the next step by the database's clock. */
export function nextStep(situation: OpenSituation): NextStep {
  const now = situation.readAt;
  if (situation.underWayUntil !== undefined) return { step: 'waitForResult', until: situation.underWayUntil };
  if (situation.webhook === 'deleted') return { step: 'cancel' };
  const stop = situation.operator?.stop;
  // This comes before all other steps: giving up a delivery must leave its webhook as it is.
  if (stop === 'giveUp') return { step: 'giveUp' };
  if (situation.spent === 'windowLost') return { step: 'expire', alarm: !situation.operatorHeld };
  if (situation.spent !== null) return { step: 'compensate' };

  const { windowEndsAt, nextAttemptAt } = situation;
  if (situation.webhook === 'inactive' || stop === 'hold') {
    if (windowEndsAt === null) return { step: 'beginHolding' };
    return now < windowEndsAt ? { step: 'hold', until: windowEndsAt } : { step: 'expire', alarm: false };
  }
  if (situation.pausedUntil !== undefined) return { step: 'hold', until: situation.pausedUntil };
  // An attempt was due and was not made, although nothing held it: Waybill itself was down.
  if (windowEndsAt !== null && now >= windowEndsAt) return { step: 'attempt', lastChance: true };
  // Failures at the old URL, or before the activation, say nothing about the present: try at once.
  if (situation.generationChanged) return { step: 'attempt', lastChance: false };
  if (nextAttemptAt !== null && now < nextAttemptAt)
    return { step: 'waitForNextAttempt', until: nextAttemptAt };
  return { step: 'attempt', lastChance: false };
}
