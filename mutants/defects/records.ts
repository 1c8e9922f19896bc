/** The guards of a delivery's records: each condition of their statements. */
import { catchers, type Defect } from '../defect.ts';

const ATTEMPTS = 'src/db/deliveries/attempts.ts';
const RESULTS = 'src/db/deliveries/results.ts';
const DELIVERIES = 'src/db/deliveries/deliveries.ts';
const COMPENSATION = 'src/db/deliveries/compensation.ts';
const records = (...tests: string[]) => catchers('test/db/deliveries/repeated-steps.test.ts', ...tests);

export const recordDefects: readonly Defect[] = [
  {
    name: 'begin-attempt-that-has-its-result',
    file: ATTEMPTS,
    text: 'where attempts.finished_at is null\n          and (',
    replacement: 'where (',
    symptom: 'An attempt that was made and recorded is made once more after a crash.',
    caughtBy: records('an attempt with a result does not begin again'),
  },
  {
    name: 'begin-attempt-moves-the-window',
    file: ATTEMPTS,
    text: 'set window_started_at = coalesce(d.window_started_at, begun.started_at)',
    replacement: 'set window_started_at = begun.started_at',
    symptom: 'The 48 hours start over with every attempt.',
    caughtBy: records(
      'an attempt that begins again after an interruption keeps its window',
      'the second and third attempt leave the window of a delivery where it began',
    ),
  },
  {
    name: 'begin-attempt-of-another-owner',
    file: ATTEMPTS,
    text: ' and (attempts.owned_until is null or attempts.owned_until < clock_timestamp() or attempts.owner = excluded.owner)',
    replacement: '',
    symptom: 'Two workers make an attempt at the same time: its receiver has two requests at once.',
    caughtBy: catchers(
      'test/db/deliveries/attempt-ownership.test.ts',
      'only one of two processes that race to begin an attempt makes it',
    ),
  },
  {
    name: 'record-attempt-twice',
    file: RESULTS,
    text: '    a.finished_at is null and a.owner',
    replacement: '    a.owner',
    symptom: 'A late repetition replaces the result that the log showed.',
    caughtBy: records('a second result changes nothing: the first one stays'),
  },
  {
    name: 'record-attempt-first-result-always-stays',
    file: RESULTS,
    text: "and a.outcome is distinct from 'success')",
    replacement: 'and false)',
    symptom:
      'A receiver that accepted one of two overlapping requests is retried, and deactivated in the end.',
    caughtBy: records('a success replaces a recorded failure, since the receiver has accepted the delivery'),
  },
  {
    name: 'record-attempt-of-every-delivery',
    file: RESULTS,
    text: 'where d.id = f.delivery_id\n      and ${anyOf',
    replacement: 'where ${anyOf',
    symptom: 'One success makes every open delivery a success.',
    caughtBy: records('results recorded together change only their own deliveries'),
  },
  {
    name: 'record-attempt-reopens-what-has-ended',
    file: RESULTS,
    text: 'notIndexable(sql, isOpen(sql))',
    replacement: 'sql`true`',
    symptom: 'A delivery that was canceled shows as under retry for ever.',
    caughtBy: records('a result does not reopen a delivery that was canceled during the request'),
  },
  {
    name: 'record-attempt-late-by-the-longest-outage',
    file: RESULTS,
    text: 'late_ms = d.late_ms + f.late_ms',
    replacement: 'late_ms = greatest(d.late_ms, f.late_ms)',
    symptom: 'After several outages a webhook is deactivated for the time that Waybill was away.',
    caughtBy: catchers(
      'test/db/deliveries/attempt-decisions.test.ts',
      'the delays of several outages of one delivery add up',
    ),
  },
  {
    name: 'close-delivery-that-has-ended',
    file: DELIVERIES,
    text: 'isOpen(sql)}\n    returning d.event_type',
    replacement: 'sql`true`}\n    returning d.event_type',
    symptom: 'What was delivered shows as canceled.',
    caughtBy: records('a late cancellation does not undo a success'),
  },
  {
    name: 'spend-retries-of-a-later-attempt',
    file: DELIVERIES,
    text: ' and attempts_made = ',
    replacement: ' and attempts_made >= ',
    symptom: 'A delivery fails although its next attempt was due.',
    caughtBy: records(
      'a result recorded since then keeps its plan when earlier retries are reported as spent',
    ),
  },
  {
    name: 'compensate-what-was-delivered',
    file: COMPENSATION,
    text: 'if (!isOpen(state)) {',
    replacement: "if (state === 'failed') {",
    symptom: 'A webhook is deactivated and mailed about although the last attempt succeeded.',
    caughtBy: records('the compensation of a delivered delivery does nothing'),
  },
  {
    name: 'compensate-whatever-the-generation',
    file: COMPENSATION,
    text: 'deleted_at is null and generation = ',
    replacement: 'deleted_at is null and generation >= ',
    symptom: 'A webhook that moved is deactivated for what its old address answered.',
    caughtBy: records(
      'the compensation leaves a webhook active whose URL has changed since the last attempt',
    ),
  },
  {
    name: 'compensate-every-webhook',
    file: COMPENSATION,
    text: 'unregistered_at = now()\n      where id = ',
    replacement: 'unregistered_at = now()\n      where id >= ',
    symptom: 'One broken receiver deactivates the webhooks of others.',
    caughtBy: records('the compensation deactivates no other webhook'),
  },
  {
    name: 'compensate-takes-the-deactivation-of-another',
    file: COMPENSATION,
    text: 'webhookId} and delivery_id = ',
    replacement: 'webhookId} and delivery_id is distinct from ',
    symptom: 'A repeated compensation sends the mail of another delivery once more.',
    caughtBy: records(
      'repeated compensations of two deliveries deactivate their webhook once, for the first one',
    ),
  },
];
