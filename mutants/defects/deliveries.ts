/** A delivery's way through outages. */
import type { Defect } from '../defect.ts';

const RECORDING = 'src/attempt/finish-attempts.ts';
const interrupted = (...tests: string[]) => [{ file: 'test/workflow/interrupted.test.ts', tests }];
const ALARMED = [
  {
    file: 'test/workflow/outage.test.ts',
    tests: ['that last attempt failing ends the delivery as expired and leaves the webhook active'],
  },
];
const NOT_ALARMED = [
  {
    file: 'test/workflow/window.test.ts',
    tests: [
      'its webhook inactive until the window ends, told of it: expired, and the webhook is not blamed',
      'its webhook inactive until the window ends, not told of it: expired, and the webhook is not blamed',
    ],
  },
];

export const deliveryDefects: readonly Defect[] = [
  {
    name: 'attempt-without-heartbeat',
    file: 'activities/with-heartbeat.ts',
    text: 'setInterval(() => context.heartbeat(), HEARTBEAT_INTERVAL_MS)',
    replacement: 'setInterval(() => {}, HEARTBEAT_INTERVAL_MS)',
    noticed: 'A receiver that takes its time to answer gets the delivery twice.',
    caughtBy: interrupted(
      'an answer that takes longer than a worker may be silent is waited for, and counts',
    ),
  },
  {
    name: 'attempt-result-not-recorded-again',
    file: RECORDING,
    text: '  for (const wait of RECORD_RETRY_WAITS_MS) {',
    replacement: '  for (const wait of RECORD_RETRY_WAITS_MS.slice(99)) {',
    noticed: 'The database away for a second: deliveries that were accepted are sent once more.',
    caughtBy: interrupted(
      'the database away when the answer comes: it is recorded as soon as it is back, and nothing is sent twice',
    ),
  },
  {
    name: 'attempt-too-early-after-an-interruption',
    file: 'workflows/next-step.ts',
    text: 'if (nextAttemptAt !== null && now < nextAttemptAt)',
    replacement: 'if (nextAttemptAt !== null && now < 0)',
    noticed: 'The Retry-After of a receiver under load is forgotten when a worker dies.',
    caughtBy: interrupted(
      'Temporal unreachable when a 503 asks for patience: its Retry-After is kept, whatever the engine was told',
    ),
  },
  {
    name: 'attempt-of-an-inactive-webhook-ends-its-activity',
    file: 'activities/attempt-delivery.ts',
    text: "if (outcome.kind === 'putOff') throw putOff(outcome);",
    replacement: "if (outcome.kind === 'putOff') return { kind: 'notAttempted', reason: outcome.reason };",
    noticed:
      'A webhook with thousands of open deliveries is switched off, and other e-shops feel it for minutes.',
    caughtBy: [
      {
        file: 'test/workflow/webhook-changed.test.ts',
        tests: [
          'not told that its webhook is inactive: the next attempt finds out, and waits itself until it is active',
        ],
      },
    ],
  },
  {
    name: 'history-grows-without-end',
    file: 'workflows/deliver-event.ts',
    text: 'situation.open && workflowInfo().continueAsNewSuggested',
    replacement: 'false && workflowInfo().continueAsNewSuggested',
    noticed: 'A webhook switched on and off for days: Temporal ends its deliveries, and no mail is sent.',
    caughtBy: [
      {
        file: 'test/workflow/fresh-history.test.ts',
        tests: ['a delivery goes on in a fresh history, with its count and its wait'],
      },
    ],
  },
  {
    name: 'alarm-of-a-lost-window-missing',
    file: 'workflows/next-step.ts',
    text: "{ step: 'expire', alarm: situation.operatorHeld !== true }",
    replacement: "{ step: 'expire', alarm: false }",
    noticed: 'Deliveries are lost to an outage and nobody is told.',
    caughtBy: ALARMED,
  },
  {
    name: 'alarm-of-a-lost-window-inverted',
    file: 'activities/delivery-steps.ts',
    text: 'if (alarm && closed !== null) {',
    replacement: 'if (!alarm && closed !== null) {',
    noticed:
      'The operator is alerted for every webhook that its e-shop left inactive, and never for an outage.',
    caughtBy: [...ALARMED, ...NOT_ALARMED],
  },
  {
    name: 'mail-of-a-short-window-missing',
    file: 'activities/mail-once.ts',
    text: 'mailer.send(owed.mail, signal)',
    replacement: 'Promise.resolve(signal)',
    noticed: 'A webhook is deactivated and its e-shop never hears of it.',
    caughtBy: [
      {
        file: 'test/workflow/window.test.ts',
        tests: ['a wait that would not fit the window spends the retries: failed, deactivated and mailed'],
      },
    ],
  },
];
