/**
 * What the sender is answered. It keeps the first 1 KiB of the text in the log of the delivery, where the e-shop's
 * developers read it.
 */
import { Gone, RetryLater } from './answers.ts';
import { Refused } from './refused.ts';

/** When the sender is to ask again about what somebody else is handling, in seconds. */
const BUSY_RETRY_S = 30;

const texts = {
  handled: 'Handled.',
  repeat: 'Handled before: this is a repeat.',
  stale: 'Not handed on: a later event of this record was handled before.',
  verified: 'The signatures of this test are good. No handler was called: its record does not exist.',
} as const;

/** What an examination reads from an answer: whether the delivery was handled, or acknowledged alone. */
const HANDLED = 'x-waybill-handled';
const handled = { handled: 'new', verified: 'new', repeat: 'repeat', stale: 'stale' } as const;

function text(status: number, message: string, headers: Readonly<Record<string, string>> = {}): Response {
  return new Response(`${message}\n`, {
    status,
    headers: { 'content-type': 'text/plain; charset=utf-8', ...headers },
  });
}

/** @param outcome what became of the delivery, or what was thrown */
export function responseTo(outcome: unknown): Response {
  if (outcome === 'handled' || outcome === 'repeat' || outcome === 'stale' || outcome === 'verified')
    return text(200, texts[outcome], { [HANDLED]: handled[outcome] });
  if (outcome === 'busy')
    return text(503, 'It is being handled by an earlier attempt.', { 'retry-after': String(BUSY_RETRY_S) });
  if (outcome instanceof Gone) return text(410, outcome.message);
  if (outcome instanceof RetryLater) return text(503, outcome.message, { 'retry-after': outcome.retryAfter });
  if (outcome instanceof Refused)
    return text(outcome.status, outcome.message, outcome.code === 'method' ? { allow: 'POST, GET' } : {});
  // What an application throws is for its own log: it may hold anything.
  return text(500, 'The handler failed.');
}
