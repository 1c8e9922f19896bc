/** The relay and its claims. */
import type { Defect } from '../defect.ts';

const relay = (...tests: string[]) => [{ file: 'test/workflow/relay.test.ts', tests }];
const fanOut = (...tests: string[]) => [{ file: 'test/workflow/fan-out.test.ts', tests }];
const neighbours = (...tests: string[]) => [{ file: 'test/workflow/neighbours.test.ts', tests }];
const claims = (...tests: string[]) => [{ file: 'test/db/claims.test.ts', tests }];

export const relayDefects: readonly Defect[] = [
  {
    name: 'relay-change-removed-although-its-signal-failed',
    file: 'src/relay/changes.ts',
    text: '      if (!isRefusal(error)) {\n        failed = true;\n        throw error;\n      }\n',
    replacement: '',
    noticed: 'An activation during a short outage of Temporal leads to no attempt for hours.',
    caughtBy: relay('a change whose signal failed is made known again'),
  },
  {
    name: 'relay-tells-only-the-first-page',
    file: 'src/relay/changes.ts',
    text: '  if (next.length > page)',
    replacement: '  if (next.length > page + 1)',
    noticed: 'After a long outage of a receiver only a few of its deliveries resume when it is activated.',
    caughtBy: relay('every open delivery of a webhook is told of a change, however many there are'),
  },
  {
    name: 'relay-refusal-taken-for-an-outage',
    file: 'src/temporal/refusal.ts',
    text: '  return isGrpcServiceError(cause) && cause.code === INVALID_ARGUMENT;',
    replacement: '  return isGrpcServiceError(cause) && cause.code === INVALID_ARGUMENT && false;',
    noticed: 'One order with an identifier that Temporal refuses stops everybody’s deliveries.',
    caughtBy: relay('a whole batch that Temporal refuses does not stop the others'),
  },
  {
    name: 'relay-cause-of-a-refusal-not-looked-at',
    file: 'src/temporal/refusal.ts',
    text: '  const cause = error instanceof ServiceError ? error.cause : error;',
    replacement: '  const cause = error instanceof ServiceError ? undefined : error;',
    noticed: 'As above: only an error made up by a test was recognised as a refusal.',
    caughtBy: relay('a whole batch that Temporal refuses does not stop the others'),
  },
  {
    name: 'relay-releases-nothing-after-a-failed-start',
    file: 'src/relay/start.ts',
    text: '  await releaseDeliveries(sql, left);\n',
    replacement: '',
    noticed: 'After a moment without Temporal up to a hundred deliveries are half a minute late.',
    caughtBy: relay('a start that failed is given back at once: another relay need not wait for the lease'),
  },
  {
    name: 'relay-terminated-workflow-blocks-all-changes',
    file: 'src/temporal/signal.ts',
    text: '    if (!(error instanceof WorkflowNotFoundError)) throw error;',
    replacement: '    throw error;',
    noticed: 'A workflow terminated in the Temporal UI stops every later activation of every webhook.',
    caughtBy: relay(
      'a workflow that was terminated does not stand in the way of the changes of other webhooks',
    ),
  },
  {
    name: 'relay-second-start-is-an-error',
    file: 'src/temporal/dispatcher.ts',
    text: '      if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;',
    replacement: '      throw error;',
    noticed: 'A relay that died between a start and its record leaves the outbox stuck.',
    caughtBy: relay('a delivery started twice is delivered once'),
  },
  {
    name: 'claims-of-deliveries-wait-for-each-other',
    file: 'src/db/outbox/claim.ts',
    text: 'limit 1 for update skip locked)',
    replacement: 'limit 1 for update)',
    noticed: 'A second worker adds nothing: it waits for the first, and stands still with it.',
    caughtBy: relay('a second claim passes over the deliveries that a first one is still taking'),
  },
  {
    name: 'claims-of-changes-wait-for-each-other',
    file: 'src/db/outbox/claim-changes.ts',
    text: ' for update skip locked)\n    returning o.id,',
    replacement: ')\n    returning o.id,',
    noticed: 'Activations wait for another worker that stands still.',
    caughtBy: relay('a second claim passes over the changes that a first one is still taking'),
  },
  {
    name: 'claims-never-end',
    file: 'src/db/outbox/claim.ts',
    text: '(d.claimed_until is null or d.claimed_until < now())',
    replacement: 'd.claimed_until is null',
    noticed: 'What a relay had claimed when it was killed is never delivered.',
    caughtBy: relay(
      'a claim that nobody finished is claimed again once its lease is over; a dispatched one never',
    ),
  },
  {
    name: 'claims-by-age-alone',
    file: 'src/db/outbox/claim.ts',
    text: 'row_number() over (order by turn, lot, id) as place',
    replacement: 'row_number() over (order by id) as place',
    noticed: 'One import of 1,500 lines makes another e-shop wait for minutes.',
    caughtBy: claims('turns an e-shop with little waiting does not wait behind one with much'),
  },
  {
    name: 'deletions-need-workflows',
    file: 'src/relay/changes.ts',
    text: 'const canceled = await cancelWithoutWorkflow(sql, webhookId);',
    replacement: 'const canceled: never[] = [];',
    noticed:
      'A webhook deleted in a rush: each of its deliveries starts a workflow to be canceled, and others wait.',
    caughtBy: [
      {
        file: 'test/workflow/fan-out.test.ts',
        tests: [
          'deliveries without a workflow of a deleted webhook are canceled at once, many together: none needs a workflow for that',
        ],
      },
    ],
  },
  {
    name: 'activations-leave-behind-what-batches-handed-back',
    file: 'src/relay/changes.ts',
    text: 'const queued = await queueAgain(sql, webhookId);',
    replacement: 'const queued = 0;',
    noticed:
      'A webhook switched off and on in a rush: its deliveries start one by one, minutes after their neighbours.',
    caughtBy: [
      {
        file: 'test/workflow/fan-out.test.ts',
        tests: [
          'deliveries without a workflow that batches handed back while it was inactive wait in the queue again once it is active',
        ],
      },
    ],
  },
  {
    name: 'batches-wait-for-receivers-that-hang',
    file: 'src/concurrency/limits.ts',
    text: 'usage.underWay < whole || ',
    replacement: 'whole > 0 || ',
    noticed:
      'In a rush, batches are held open by a receiver that does not answer, and their deliveries with them.',
    caughtBy: [
      {
        file: 'test/unit/limits.test.ts',
        tests: ['who gets no permit is told to come again, later and later while nothing becomes free'],
      },
    ],
  },
  {
    name: 'imports-are-fresh',
    file: 'src/api/import/batches.ts',
    text: 'much ? QUEUE.bulk : QUEUE.fresh',
    replacement: 'much ? QUEUE.fresh : QUEUE.fresh',
    noticed: 'In an import of 10,000 lines an order waits for its turn among them, and the import for all deliveries.',
    caughtBy: [
      {
        file: 'test/api/import-batches.test.ts',
        tests: [
          'the deliveries of an import wait in a class of their own, those of a line now and then among the fresh ones',
        ],
      },
    ],
  },
  {
    name: 'changes-do-not-join',
    file: 'src/db/outbox/changes.ts',
    text: '  if (joined.count > 0) return;\n',
    replacement: '',
    noticed: 'A webhook toggled ten times makes ten signals for each of its open deliveries.',
    caughtBy: fanOut(
      'a webhook switched off and on again and again is one change, told once to every open delivery',
    ),
  },
  {
    name: 'changes-forget-how-far-they-are',
    file: 'src/db/outbox/claim-changes.ts',
    text: 'and d.id > $',
    replacement: 'and d.id <> $',
    noticed: 'A change of a webhook with many open deliveries never ends.',
    caughtBy: fanOut(
      'a relay that is killed half-way leaves the rest to the next, and no more than the rest',
    ),
  },
  {
    name: 'changes-that-join-reach-only-the-rest',
    file: 'src/db/outbox/changes.ts',
    text: 'again_until_id = told_id',
    replacement: 'again_until_id = null',
    noticed: 'Deliveries told of the deactivation are not told of the activation that follows it.',
    caughtBy: fanOut(
      'a change that comes half-way is told to those behind first, then to those before, and then it is over',
    ),
  },
  {
    name: 'changes-that-join-during-the-last-page-are-lost',
    file: 'src/db/outbox/claim-changes.ts',
    text: '{change.version}`;\n  if (removed',
    replacement: '{change.version} or told_id is null`;\n  if (removed',
    noticed: 'Switched off and on within a second, a webhook stays silent for hours.',
    caughtBy: fanOut('a change that comes while a page is being told is told to that page as well'),
  },
  {
    name: 'notification-forgets-what-waits',
    file: 'src/db/outbox/notify.ts',
    text: '      for (const one of work) waiting.add(one);\n      if (timer !== undefined) return;\n',
    replacement: '      if (timer !== undefined) return;\n      for (const one of work) waiting.add(one);\n',
    noticed: 'A webhook that is activated just after an order is told of it a second later.',
    caughtBy: [
      {
        file: 'test/db/transaction.test.ts',
        tests: ['a notification names all that waits, each once; one without names may mean anything'],
      },
    ],
  },
  {
    name: 'releases-of-others-put-off',
    file: 'src/db/records/order-release.ts',
    text: "s.status = 'preOrder' and s.eshop_id = o.eshop_id\n",
    replacement: "s.status = 'preOrder'\n",
    noticed: 'One e-shop with thousands of pre-orders at midnight puts off the pre-order of every other.',
    caughtBy: [
      {
        file: 'test/db/order-release.test.ts',
        tests: ['pre-orders of one second are released a tenth of a second apart, each e-shop by itself'],
      },
    ],
  },
  {
    name: 'releases-placed-by-identifier',
    file: 'src/db/records/order-release.ts',
    text: '(s.created_at, s.eshop_order_id) < (o.created_at, o.eshop_order_id)',
    replacement: 's.eshop_order_id < o.eshop_order_id',
    noticed: 'Pre-orders with random identifiers are released in bursts all the same.',
    caughtBy: [
      {
        file: 'test/db/order-release.test.ts',
        tests: ['a pre-order that comes later takes nobody’s place'],
      },
    ],
  },
  {
    name: 'release-timers-without-turns',
    file: 'src/db/outbox/claim-changes.ts',
    text: 'order by due_at > now(), case when due_at <= now() then turn end, due_at, id',
    replacement: 'order by due_at, id',
    noticed: 'An e-shop that moves its pre-orders all day has everybody else’s released hours late.',
    caughtBy: [
      {
        file: 'test/db/order-release.test.ts',
        tests: ['an e-shop with very many changes makes nobody else wait'],
      },
    ],
  },
  {
    name: 'release-timers-set-in-any-order',
    file: 'src/db/outbox/claim-changes.ts',
    text: 'order by o.due_at, o.id limit',
    replacement: 'order by o.id limit',
    noticed:
      'A pre-order that is due in a minute waits behind an import of thousands that are due next year.',
    caughtBy: [
      {
        file: 'test/db/order-release.test.ts',
        tests: ['timers due first are set first, whoever’s they are'],
      },
    ],
  },
  {
    name: 'limits-an-eshop-takes-all-places',
    file: 'src/concurrency/turns.ts',
    text: 'Math.floor(open * share)',
    replacement: 'open',
    noticed: 'A hundred webhooks that never answer take every place of a worker.',
    caughtBy: neighbours(
      'receivers that never answer take half of all places, and every delivery of another e-shop is made',
    ),
  },
  {
    name: 'steps-wait-behind-attempts',
    file: 'workflows/delivery-types.ts',
    text: '-steps`',
    replacement: '`',
    noticed: 'While receivers hang, no webhook is deactivated and no mail is sent.',
    caughtBy: neighbours(
      'a delivery that failed for good deactivates its webhook and mails, however many attempts take all places',
    ),
  },
  {
    name: 'relay-hands-over-without-a-bound',
    file: 'src/relay/deliveries.ts',
    text: 'options.window - load.waiting()',
    replacement: 'options.window',
    noticed: 'In a rush some deliveries come minutes later than their neighbours.',
    caughtBy: neighbours('no more is started than begins'),
  },
  {
    name: 'relay-stops-with-calls-under-way',
    file: 'src/lib/each-limited.ts',
    text: 'await Promise.allSettled(',
    replacement: 'await Promise.all(',
    noticed: 'The relay says that it has stopped while 75 calls are under way.',
    caughtBy: fanOut('a relay that has been stopped has nothing under way, whatever fails beside it'),
  },
];
