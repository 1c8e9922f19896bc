/** The queue: its plan after an attempt, its claims, and its unstarted workflows. */
import { catchers, type Defect } from '../defect.ts';

const plan = (...tests: string[]) => catchers('test/db/deliveries/next-step-in-the-queue.test.ts', ...tests);
const claimTokens = (...tests: string[]) => catchers('test/db/outbox/claim-tokens.test.ts', ...tests);
const unstarted = (...tests: string[]) => catchers('test/db/outbox/unstarted-workflows.test.ts', ...tests);
const ATTEMPTS = 'src/db/deliveries/attempts.ts';
const RESULTS = 'src/db/deliveries/results.ts';
const RELEASE = 'src/db/outbox/release.ts';
const UNSTARTED = 'src/db/outbox/unstarted-workflows.ts';

export const queueDefects: readonly Defect[] = [
  {
    name: 'plan-ignores-the-claim',
    file: RESULTS,
    text: `d.claim_id = f.claim_id or`,
    replacement: `d.claim_id is distinct from d.id or`,
    symptom:
      'A worker that stood still for a while takes away what another one has under way: it is sent twice.',
    caughtBy: plan(
      'a delivery that was accepted gets its result but keeps its place if another process has claimed it',
      'a delivery that failed gets its result but keeps its place if another process has claimed it',
    ),
  },
  {
    name: 'retry-before-its-time',
    file: RESULTS,
    text: `and \${isSoon} then f.next else now() end`,
    replacement: `and \${isSoon} then now() else now() end`,
    symptom: 'A receiver that fails in a burst gets all its attempts at once.',
    caughtBy: plan('a failed delivery is never claimed before its retry is due, and then with its count'),
  },
  {
    name: 'changed-webhook-not-noticed',
    file: 'src/db/outbox/outbox.ts',
    text: `(\${generation} <> \${sql(webhook)}.generation)`,
    replacement: `(\${generation} > \${sql(webhook)}.generation)`,
    symptom: 'A receiver that was repaired and activated waits for hours for the retries of before.',
    caughtBy: plan(
      'after an activation during the attempt, the next one is due after the first wait of the policy',
    ),
  },
  {
    name: 'records-failures-of-its-predecessor',
    file: RESULTS,
    text: ' and a.owner = r.owner',
    replacement: '',
    symptom:
      'The failure of a worker that was given up counts, while another one has the same attempt under way.',
    caughtBy: catchers(
      'test/db/deliveries/attempt-ownership.test.ts',
      'a late owner loses its attempt if it failed; its success still counts',
    ),
  },
  {
    name: 'claims-of-others-ended',
    file: RELEASE,
    text: ` and d.claim_id = any(\${tokens}::uuid[])`,
    replacement: ` and (\${tokens}::uuid[] is not null)`,
    symptom: 'A worker that comes to again gives back what another one has claimed since.',
    caughtBy: claimTokens(
      'giveBack does not change a delivery that another process has claimed since',
      'deferClaimed does not change a delivery that another process has claimed since',
      'requeue does not change a delivery that another process has claimed since',
      'renewClaims does not change a delivery that another process has claimed since',
    ),
  },
  {
    name: 'deferred-retry-without-a-time',
    file: RELEASE,
    text: `and d.next_attempt_at is not null then greatest(d.next_attempt_at, \${until}) end`,
    replacement: `and d.next_attempt_at is null then greatest(d.next_attempt_at, \${until}) end`,
    symptom:
      'A retry that found its receiver full counts as the last one: the delivery fails after a few attempts.',
    caughtBy: claimTokens('a deferred delivery always has a time for its next attempt if it is a retry'),
  },
  {
    name: 'refused-statement-not-repeated',
    file: 'src/db/grouped.ts',
    text: 'if (items.length === 1 || !isOfValues(error)) throw error;',
    replacement: 'if (items.length > 0 || !isOfValues(error)) throw error;',
    symptom: 'One broken value fails the attempts of all that share its statement.',
    caughtBy: catchers(
      'test/unit/grouped.test.ts',
      'a failed statement is repeated item by item if the server refused it, and only bad items fail',
    ),
  },
  {
    name: 'workflow-leaves-it-in-the-queue',
    file: ATTEMPTS,
    text: `    update deliveries set dispatched_at = clock_timestamp(), claimed_until = null, claim_id = null
    where id = \${deliveryId} and dispatched_at is null\``,
    replacement: `    update deliveries set dispatched_at = null, claimed_until = null, claim_id = null
    where id = \${deliveryId} and dispatched_at is null\``,
    symptom:
      'A process that starts a workflow and dies leaves its delivery to two: the queue and the workflow retry it.',
    caughtBy: plan('a failed delivery that its workflow has taken over is in no queue'),
  },
  {
    name: 'workflows-at-once-in-a-burst',
    file: 'src/relay/in-flight.ts',
    text: "precedence.isEmpty('fresh') && precedence.isEmpty('bulk') && starts.hasRoom()",
    replacement: 'starts.hasRoom() || !starts.hasRoom()',
    symptom: 'In a burst Temporal takes the processor from the attempts.',
    caughtBy: catchers(
      'test/workflow/burst.test.ts',
      'a delivery is attempted without a workflow, then gets one with the result',
    ),
  },
  {
    name: 'undelivered-without-a-workflow',
    file: 'src/relay/in-flight.ts',
    text: "return delivered && number === 1 && deps.workflows === 'undelivered' ? 'none' : 'unstarted';",
    replacement: "return number === 1 && deps.workflows === 'undelivered' ? 'none' : 'unstarted';",
    symptom: 'With WORKFLOWS=undelivered a delivery that failed in a burst is never attempted again.',
    caughtBy: catchers(
      'test/workflow/burst.test.ts',
      'WORKFLOWS=undelivered: only a delivery whose first attempt fails gets a workflow',
    ),
  },
  {
    name: 'retries-wait-for-temporal',
    file: UNSTARTED,
    text: `const undelivered = sql.unsafe(String(CLASS.undelivered));`,
    replacement: `const undelivered = sql.unsafe(String(CLASS.blocked));`,
    symptom: 'While Temporal is unavailable, no attempt is made that is due in more than a minute.',
    caughtBy: unstarted(
      'a retry that becomes due before its workflow has started is made from the queue: due in seconds',
    ),
  },
  {
    name: 'delivered-ones-not-limited',
    file: UNSTARTED,
    text: `- \${MAX_WAITING}`,
    replacement: `- 100 * \${MAX_WAITING}`,
    symptom: 'After a long import Temporal is busy with its workflows for hours.',
    caughtBy: unstarted(
      'delivered deliveries that wait for their workflow beyond ten thousand, the oldest of the largest e-shop get no workflow, and are counted',
    ),
  },
  {
    name: 'delivered-ones-not-counted',
    file: UNSTARTED,
    text: 'settings.value::bigint + excluded.value::bigint',
    replacement: 'settings.value::bigint',
    symptom: 'Nobody learns how many deliveries got no workflow.',
    caughtBy: unstarted(
      'delivered deliveries that wait for their workflow beyond ten thousand, the oldest of the largest e-shop get no workflow, and are counted',
    ),
  },
];
