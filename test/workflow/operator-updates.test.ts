/** Operator actions on a delivery, by the updates and signals of its workflow. */
import { WorkflowUpdateFailedError } from '@temporalio/client';
import { afterEach, expect, test } from 'vitest';
import { skipWait } from '../support/database/windows.ts';
import { later } from '../support/later.ts';
import { receiverOfFile, stackOfFile } from '../support/lifetimes.ts';
import { deliverInTenMinutes } from '../support/temporal/waiting-delivery.ts';

const stack = await stackOfFile('operator-updates', {
  policy: { windowMs: 3_600_000, maxRetries: 3, attemptTimeoutMs: 60_000 },
});
const receiver = await receiverOfFile();
afterEach(() => stack.retireWebhooks());

const by = 'anna';

const waitingDelivery = (path: string) => deliverInTenMinutes(stack, receiver, path);

/** Sends the update; answers its sentence, also that of a rejection. */
async function ask(id: string, action: string, order?: unknown): Promise<string> {
  try {
    return await stack.workflow(id).executeUpdate<string, [unknown]>(action, { args: [order] });
  } catch (error) {
    if (error instanceof WorkflowUpdateFailedError) return `Refused: ${error.cause?.message}`;
    throw error;
  }
}

const requestsTo = (path: string) => receiver.requests.filter((request) => request.path === path).length;
const actionsOf = async (id: string) =>
  (
    await stack.sql<{ operatorActions: unknown }[]>`select operator_actions from deliveries where id = ${id}`
  )[0]?.operatorActions;
/** The number and outcome of each attempt. */
const attemptsOf = async (id: string) =>
  (await stack.attempts(id)).map(({ number, outcome }) => `${number} ${outcome}`);

test('a hold outlasts changes to the webhook; resuming makes an attempt, and records who asked', async () => {
  const { id, webhook } = await waitingDelivery('/held');
  expect(await ask(id, 'hold', { reason: 'stock-taking', by })).toMatch(/^Held: no attempt is made until/);
  await stack.untilHeld(id);
  receiver.respond({ status: 200 });
  await stack.changeWebhook(webhook.id, { active: false });
  await stack.changeWebhook(webhook.id, { active: true });
  expect(await ask(id, 'tryNow')).toMatch(
    /^Refused: It is held by anna at .*: stock-taking. Resume it first.$/,
  );
  expect(await ask(id, 'hold')).toMatch(/^Refused: It is already held by anna at .*: stock-taking.$/);
  expect(requestsTo('/held')).toBe(1);
  expect(await ask(id, 'resume')).toMatch(/^Resumed: attempt 2 of 4 follows at /);
  expect(await stack.untilClosed(id)).toBe('COMPLETED');
  expect(await actionsOf(id)).toMatchObject([
    { action: 'hold', by, reason: 'stock-taking' },
    { action: 'resume', by: 'an operator', reason: '' },
  ]);
});

/** The receiver keeps requests until they are released; then it answers as given. */
function keepRequests(status: number, headers: Record<string, string> = {}) {
  const [released, release] = later();
  receiver.respond(async () => {
    await released;
    return { status, headers };
  });
  return () => release();
}

/** A delivery whose second attempt, made by its workflow, is under way until it is released. */
async function underWay(path: string, status: number) {
  await stack.retireWebhooks();
  const { id } = await waitingDelivery(path);
  const release = keepRequests(status);
  await skipWait(stack, id);
  await stack.until('the second request', async () => requestsTo(path) === 2);
  return { id, release };
}

test('an action lets the attempt under way finish, and its result counts', async () => {
  const held = await underWay('/under-way-held', 503);
  expect(await ask(held.id, 'tryNow')).toBe('Refused: Attempt 2 is under way at this moment.');
  expect(await ask(held.id, 'hold', { by })).toMatch(/ Attempt 2 is under way and is allowed to finish/);
  held.release();
  await stack.untilHeld(held.id);
  await stack.until('its record', async () => (await stack.delivery(held.id)).attemptsMade === 2);
  expect(await stack.delivery(held.id)).toMatchObject({ state: 'retrying', attemptsMade: 2 });

  const delivered = await underWay('/under-way-delivered', 200);
  expect(await ask(delivered.id, 'giveUp', { by })).toMatch(/ is allowed to finish: if it is accepted/);
  delivered.release();
  expect(await stack.untilClosed(delivered.id)).toBe('COMPLETED');
  expect(await stack.delivery(delivered.id)).toMatchObject({ state: 'delivered', canceledBy: null });

  const failing = await underWay('/under-way-failing', 503);
  expect(await ask(failing.id, 'giveUp', { by })).toMatch(/^Given up/);
  failing.release();
  expect(await stack.untilClosed(failing.id)).toBe('COMPLETED');
  expect(await stack.delivery(failing.id)).toMatchObject({ state: 'canceled', attemptsMade: 2 });
  expect(requestsTo('/under-way-failing')).toBe(2);
});

test('simultaneous actions: one of two holds is refused, and two tryNow make one attempt', async () => {
  const { id } = await waitingDelivery('/two');
  const holds = await Promise.all([ask(id, 'hold', { by }), ask(id, 'hold', { by: 'ben' })]);
  expect(holds.filter((answer) => answer.startsWith('Held: '))).toHaveLength(1);
  expect(holds.filter((answer) => answer.startsWith('Refused: It is already held by '))).toHaveLength(1);
  await ask(id, 'resume');
  // Not answered before both were sent: otherwise the second would ask for the third attempt.
  const release = keepRequests(503, { 'retry-after': '600' });
  const tries = await Promise.all([ask(id, 'tryNow'), ask(id, 'tryNow')]);
  for (const answer of tries) expect(answer).toMatch(/^(Attempt 2 of 4|Refused: Attempt 2 is )/);
  release();
  await stack.until('the second attempt', async () => (await stack.delivery(id)).attemptsMade === 2);
  // The delivery now waits for ten minutes: no other attempt was asked for.
  expect(await ask(id, 'hold')).toMatch(/^Held: /);
  await stack.untilHeld(id);
  expect(await attemptsOf(id)).toEqual(['1 failure', '2 failure']);
  expect(requestsTo('/two')).toBe(2);
});

test('repeated tryNow makes no more attempts than the policy allows, then compensates', async () => {
  const { id, webhook } = await waitingDelivery('/again');
  for (const number of [2, 3, 4]) {
    expect(await ask(id, 'tryNow')).toMatch(`Attempt ${number} of 4 follows at once.`);
    await stack.until('its record', async () => (await stack.delivery(id)).attemptsMade === number);
  }
  expect(await stack.untilClosed(id)).toBe('FAILED');
  expect(await stack.webhook(webhook.id)).toMatchObject({ active: false });
  expect(requestsTo('/again')).toBe(4);
});

test('an invalid action is refused without a trace, and the message says what is valid', async () => {
  const { id } = await waitingDelivery('/typed');
  for (const order of ['now', 7, [], { why: 'x' }, { reason: 7 }, { by: null }]) {
    expect(await ask(id, 'hold', order)).toMatch(/^Refused: Takes \{"reason"/);
  }
  expect(await ask(id, 'hold', { reason: 'x'.repeat(501) })).toBe(
    'Refused: The reason may have at most 500 characters.',
  );
  expect(await ask(id, 'hold', { by: 'x'.repeat(101) })).toBe(
    'Refused: The name of who asks may have at most 100 characters.',
  );
  const { events } = await stack.workflow(id).fetchHistory();
  expect(events?.filter((event) => event.workflowExecutionUpdateAcceptedEventAttributes)).toEqual([]);
});

test('signals act like updates of the same names, and a refused one changes nothing', async () => {
  const { id } = await waitingDelivery('/signals');
  await stack.signal(id, 'hold', { reason: 'by query', by });
  await stack.untilHeld(id);
  await stack.signal(id, 'hold', { by: 'ben' });
  await stack.signal(id, 'tryNow');
  await stack.signal(id, 'resume', 'nonsense');
  // Signals and updates are handled in order of arrival.
  expect(await ask(id, 'hold')).toMatch(/^Refused: It is already held by anna at .*: by query\.$/);
  receiver.respond({ status: 200 });
  await stack.signal(id, 'resume');
  await stack.signal(id, 'tryNow');
  expect(await stack.untilClosed(id)).toBe('COMPLETED');
  expect(await actionsOf(id)).toMatchObject([
    { action: 'hold', by },
    { action: 'resume' },
    { action: 'tryNow' },
  ]);
});

/** The text that the Temporal UI shows for it now. */
async function detailsOf(id: string): Promise<string> {
  const metadata = await stack.workflow(id).query<{ currentDetails: string }>('__temporal_workflow_metadata');
  return metadata.currentDetails;
}

test('the details say who holds it and why, list the newest attempt first, and escape Markdown', async () => {
  const { id } = await waitingDelivery('/details');
  await ask(id, 'tryNow', { by: '[anna](http://evil.example)' });
  await stack.until('the second attempt', async () => (await stack.delivery(id)).attemptsMade === 2);
  await ask(id, 'hold', { by: 'ben', reason: 'stock-taking | until Monday' });
  await stack.untilHeld(id);
  const lines = (await detailsOf(id)).split('\n');
  expect(lines[2]).toMatch(
    /^Held by ben at 2\S+: `stock-taking \| until Monday`\. No attempt is made until it is resumed\. The window ends /,
  );
  expect(lines.filter((line) => /^\| \d/.test(line)).map((line) => line.slice(0, 5))).toEqual([
    '| 2 |',
    '| 1 |',
  ]);
  expect(lines.filter((line) => /^\| (hold|tryNow) /.test(line))).toEqual([
    expect.stringMatching(/^\| hold \| \S+ \| ben \| `stock-taking \\\| until Monday` \|$/),
    expect.stringMatching(/^\| tryNow \| \S+ \| `\[anna\]\(http:\/\/evil\.example\)` \| {2}\|$/),
  ]);
  const { signalDefinitions, updateDefinitions } = (
    await stack.workflow(id).query<{
      definition: Record<'signalDefinitions' | 'updateDefinitions', { name: string; description: string }[]>;
    }>('__temporal_workflow_metadata')
  ).definition;
  for (const shown of [signalDefinitions, updateDefinitions]) {
    const described = shown.filter(({ description }) => description?.includes('Takes {"reason"'));
    expect(described.map(({ name }) => name)).toEqual(['tryNow', 'hold', 'resume', 'giveUp']);
  }
});
