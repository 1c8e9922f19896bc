/** The relay and its claims. */
import { catchers, type Defect } from '../defect.ts';

const relay = (...tests: string[]) => catchers('test/workflow/relay.test.ts', ...tests);
const fanOut = (...tests: string[]) => catchers('test/workflow/fan-out.test.ts', ...tests);
const claims = (...tests: string[]) => catchers('test/db/outbox/claims.test.ts', ...tests);

export const relayDefects: readonly Defect[] = [
  {
    name: 'relay-change-removed-although-its-signal-failed',
    file: 'src/relay/pass-on.ts',
    text: '      if (!refused && !suspects.failed(key)) {\n        failure ??= { error };\n        return;\n      }\n',
    replacement: '',
    symptom: 'An activation during a short outage of Temporal leads to no attempt for hours.',
    caughtBy: relay('a change whose signal failed is signaled again'),
  },
  {
    name: 'relay-second-start-is-an-error',
    file: 'src/temporal/workflow-calls.ts',
    text: '    if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;',
    replacement: '    throw error;',
    symptom: 'A relay that died between a start and its record leaves the queue stuck.',
    caughtBy: relay('a delivery started twice is delivered once'),
  },
  {
    name: 'recovered-webhooks-count-as-hanging',
    file: 'src/concurrency/limits.ts',
    text: 'webhook.hanging = hasHung(webhook) ? webhook.open : 0;',
    replacement: 'if (hasHung(webhook)) webhook.hanging = webhook.open;',
    symptom: 'Receivers that hung once take places from those that hang, until hardly any is left.',
    caughtBy: catchers(
      'test/unit/limits.test.ts',
      'a webhook that hangs, recovers and hangs again counts with all its open attempts, or none',
    ),
  },
  {
    name: 'background-calls-without-a-pause',
    file: 'src/relay/workflows.ts',
    text: "return isMore ? options.tickMs : 'idle';",
    replacement: "return isMore ? 'more' : 'idle';",
    symptom: 'Thousands of unstarted workflows after an outage keep everybody else waiting.',
    caughtBy: catchers(
      'test/db/outbox/background-pace.test.ts',
      'background work pauses after a few calls: unstarted workflows',
    ),
  },
  {
    name: 'claims-never-end',
    file: 'src/db/outbox/outbox.ts',
    text: '.claimed_until < now())`',
    replacement: '.claimed_until is null)`',
    symptom: 'What a relay had claimed when it was killed is never delivered.',
    caughtBy: claims(
      'a claimed delivery belongs to one process until its lease ends, then gets another token',
    ),
  },
  {
    name: 'claims-by-age-alone',
    file: 'src/db/outbox/claim.ts',
    text: 'row_number() over (order by turn, random()) as place',
    replacement: 'row_number() over (order by id) as place',
    symptom: 'One import of 1,500 lines makes another e-shop wait for minutes.',
    caughtBy: claims('an e-shop with few deliveries does not wait behind one with many'),
  },
  {
    name: 'changes-that-join-during-the-last-page-are-lost',
    file: 'src/db/outbox/changes.ts',
    text: 'and signaled_id is null and claimed_until is null',
    replacement: '',
    symptom: 'Switched off and on within a second, a webhook stays silent for hours.',
    caughtBy: fanOut('a change during the signals of a page reaches that page too'),
  },
];
