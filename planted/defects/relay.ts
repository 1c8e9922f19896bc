/**
 * The relay and its claims.
 * @module
 */
import type { Defect } from '../defect.ts';

const relay = (...tests: string[]) => [{ file: 'test/workflow/relay.test.ts', tests }];

export const relayDefects: readonly Defect[] = [
  {
    name: 'relay-change-removed-although-its-signal-failed',
    file: 'src/relay/changes.ts',
    text: '          await dispatchChange(deps, change);\n',
    replacement: '          await dispatchChange(deps, change).catch(() => {});\n',
    noticed: 'An activation during a short outage of Temporal leads to no attempt for hours.',
    caughtBy: relay('a change whose signal failed is made known again'),
  },
  {
    name: 'relay-tells-only-the-first-500',
    file: 'src/relay/changes.ts',
    text: '    after = page.at(-1) ?? null;\n    if (after === null) return;\n',
    replacement: '    after = page.at(-1) ?? null;\n    return;\n',
    noticed: 'After a long outage of a receiver only 500 of its deliveries resume when it is activated.',
    caughtBy: relay('every open delivery of a webhook is told of a change, however many there are'),
  },
  {
    name: 'relay-refusal-taken-for-an-outage',
    file: 'src/temporal/dispatcher.ts',
    text: '  return isGrpcServiceError(cause) && cause.code === INVALID_ARGUMENT;',
    replacement: '  return isGrpcServiceError(cause) && cause.code === INVALID_ARGUMENT && false;',
    noticed: 'One order with an identifier that Temporal refuses stops everybody’s deliveries.',
    caughtBy: relay('a whole batch that Temporal refuses does not stop the others'),
  },
  {
    name: 'relay-cause-of-a-refusal-not-looked-at',
    file: 'src/temporal/dispatcher.ts',
    text: '  const cause = error instanceof ServiceError ? error.cause : error;',
    replacement: '  const cause = error instanceof ServiceError ? undefined : error;',
    noticed: 'As above: only an error made up by a test was recognised as a refusal.',
    caughtBy: relay('a whole batch that Temporal refuses does not stop the others'),
  },
  {
    name: 'relay-releases-nothing-after-a-failed-start',
    file: 'src/relay/deliveries.ts',
    text: '    await releaseDeliveries(sql, failed);\n',
    replacement: '',
    noticed: 'After a moment without Temporal up to a hundred deliveries are half a minute late.',
    caughtBy: relay('a start that failed is given back at once: another relay need not wait for the lease'),
  },
  {
    name: 'relay-terminated-workflow-blocks-all-changes',
    file: 'src/temporal/dispatcher.ts',
    text: '      if (!(error instanceof WorkflowNotFoundError)) throw error;',
    replacement: '      throw error;',
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
    file: 'src/db/outbox/outbox.ts',
    text: ' for update skip locked)\n    returning id, eshop_id, webhook_id, event_type, entity_id`;',
    replacement: ')\n    returning id, eshop_id, webhook_id, event_type, entity_id`;',
    noticed: 'A second worker adds nothing: it waits for the first, and stands still with it.',
    caughtBy: relay('a second claim passes over the deliveries that a first one is still taking'),
  },
  {
    name: 'claims-of-changes-wait-for-each-other',
    file: 'src/db/outbox/outbox.ts',
    text: ' for update skip locked)\n    returning id, kind, eshop_id, webhook_id, eshop_order_id`;',
    replacement: ')\n    returning id, kind, eshop_id, webhook_id, eshop_order_id`;',
    noticed: 'Activations wait for another worker that stands still.',
    caughtBy: relay('a second claim passes over the changes that a first one is still taking'),
  },
  {
    name: 'claims-never-end',
    file: 'src/db/outbox/outbox.ts',
    text: '      where dispatched_at is null and (claimed_until is null or claimed_until < now())',
    replacement: '      where dispatched_at is null and claimed_until is null',
    noticed: 'What a relay had claimed when it was killed is never delivered.',
    caughtBy: relay(
      'a claim that nobody finished is claimed again once its lease is over; a dispatched one never',
    ),
  },
];
