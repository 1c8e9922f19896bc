/** An operator pauses a workflow in Temporal, or Temporal rejects a call: explained, with names only to operators. */
import { createServer } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { Client, Connection } from '@temporalio/client';
import { afterEach, expect, onTestFinished, test } from 'vitest';
import { createOperatorActions } from '../../src/temporal/operator-actions.ts';
import { receiverOfFile, stackOfFile } from '../support/lifetimes.ts';
import { triedWaybill } from '../support/programs/waybill-command.ts';
import { PAUSED_BY, pauseWorkflow } from '../support/temporal/pause.ts';

const stack = await stackOfFile('paused-in-temporal', {
  policy: { windowMs: 3_600_000, attemptTimeoutMs: 60_000 },
});
const receiver = await receiverOfFile();
afterEach(() => stack.retireWebhooks());

const by = `by ${PAUSED_BY.identity}: ${PAUSED_BY.reason}, since 20`;

/** A delivery that waits ten minutes for its second attempt. */
async function waitingDelivery(): Promise<string> {
  receiver.respond({ status: 503, headers: { 'retry-after': '600' } });
  await stack.createWebhook(receiver.url);
  const id = await stack.fireOne('paused');
  await stack.untilWaiting(id);
  return id;
}

async function paused() {
  const id = await waitingDelivery();
  return { id, unpause: await pauseWorkflow(stack.client, stack.workflow(id).workflowId) };
}

/** What `waybill` prints, or its error. */
async function waybill(...words: string[]) {
  const { printed, error } = await triedWaybill(words, stack.env);
  return { printed, error };
}

const asked = { by: 'bob', reason: '' };

test('actions on a paused delivery are refused: e-shops read since when, operators also by whom', async () => {
  const { client, sql, policy } = stack;
  const { id, unpause } = await paused();
  // A busy machine takes its time to answer after the pause.
  const request = createOperatorActions({ client, sql, policy, answerMs: 60_000 });

  const answer = await request('tryNow', id, asked);

  expect(answer).toMatchObject({
    accepted: false,
    message: expect.stringMatching(/^An operator has paused this delivery in Temporal, since 20\S+Z\.$/),
    forOperators: expect.stringContaining(by),
  });
  expect(answer.unanswered).toBeUndefined();
  expect((await waybill('deliveries', 'try-now', id)).printed).toContain(by);

  expect((await waybill('deliveries', 'show', id)).printed).toMatch(
    /Paused +in Temporal, by temporal-cli:anna@laptop: a look at it, since 20/,
  );

  await unpause();
  receiver.respond({ status: 200 });
  expect(await request('tryNow', id, asked)).toEqual({ accepted: true, message: expect.any(String) });
  expect(await stack.untilClosed(id)).toBe('COMPLETED');
});

test('status counts paused workflows, and no deletion waits for them', async () => {
  const { sql, eshopId } = stack;
  await paused();
  const shown = () => waybill('status').then(({ printed }) => printed ?? '');
  await stack.until("Temporal's list", async () => /Paused/.test(await shown()));
  expect(await shown()).toMatch(/Paused +1 workflow in Temporal, such as delivery\//);
  expect(await shown()).toContain(by);

  const left = await waybill('eshop', 'delete', String(eshopId), '--yes');
  expect(left.error).toMatch(
    /^1 workflow of e-shop \d+ is paused in Temporal: delivery\/.*Unpause it, then run this again/,
  );
  expect(left.error).toContain(by);
  expect(await sql`select from eshops where disabled_at is not null`).toHaveLength(0);
});

test('a call that Temporal refuses for another reason leaves the action undecided', async () => {
  const { sql, policy } = stack;
  const id = await waitingDelivery();
  const refusing = createServer();
  refusing.on('stream', (stream) => {
    stream.respond(
      { ':status': 200, 'content-type': 'application/grpc', 'grpc-status': '7', 'grpc-message': 'No way.' },
      { endStream: true },
    );
  });
  await new Promise<void>((resolve) => refusing.listen(0, '127.0.0.1', resolve));
  const connection = Connection.lazy({
    address: `127.0.0.1:${(refusing.address() as AddressInfo).port}`,
  });
  onTestFinished(() => void refusing.close());
  onTestFinished(() => connection.close());
  const request = createOperatorActions({ client: new Client({ connection }), sql, policy });
  expect(await request('tryNow', id, asked)).toEqual({
    accepted: false,
    message: 'The request could not be passed on, and nothing was changed. Try again later.',
    forOperators: 'Nothing was changed. Temporal rejected the request: 7 PERMISSION_DENIED: No way.',
    unanswered: true,
  });
});
