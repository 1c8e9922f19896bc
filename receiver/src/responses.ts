/**
 * The responses to the sender, which stores the first 1 KiB of the text in the delivery's log, where the e-shop's
 * developers read it.
 */
import { Gone, RetryLater } from './answers.ts';
import { Refused } from './refused.ts';

/** When the sender should retry a delivery that was not handled because another one is, in seconds. */
const BUSY_RETRY_S = 30;

const busyTexts = {
  busy: 'It is being handled by an earlier attempt.',
  // It may be an earlier attempt of the same delivery: the order does not say.
  recordBusy: 'An earlier request about its record is still being handled.',
} as const;

const texts = {
  handled: 'Handled.',
  repeat: 'Handled before: this is a repeat.',
  stale: 'Not handed on: a later event of this record was handled before.',
  verified: 'The signatures of this test are valid. No handler was called: its record does not exist.',
} as const;

/** The header in which an examination reads whether the delivery was handled, or only acknowledged. */
const HANDLED = 'x-waybill-handled';
const handled = { handled: 'new', verified: 'new', repeat: 'repeat', stale: 'stale' } as const;

function text(status: number, message: string, headers: Readonly<Record<string, string>> = {}): Response {
  return new Response(`${message}\n`, {
    status,
    headers: { 'content-type': 'text/plain; charset=utf-8', ...headers },
  });
}

/** @param outcome of the delivery, or the error thrown */
export function responseTo(outcome: unknown): Response {
  if (outcome === 'handled' || outcome === 'repeat' || outcome === 'stale' || outcome === 'verified')
    return text(200, texts[outcome], { [HANDLED]: handled[outcome] });
  if (outcome === 'busy' || outcome === 'recordBusy')
    return text(503, busyTexts[outcome], { 'retry-after': String(BUSY_RETRY_S) });
  if (outcome instanceof Gone) return text(410, outcome.message);
  if (outcome instanceof RetryLater) return text(503, outcome.message, { 'retry-after': outcome.retryAfter });
  if (outcome instanceof Refused)
    return text(outcome.status, outcome.message, outcome.code === 'method' ? { allow: 'POST, GET' } : {});
  // An application's error is for its own log: it may contain anything.
  return text(500, 'The handler failed.');
}
