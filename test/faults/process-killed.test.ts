/** The process killed at the worst moments: attempts are still counted right, mails still sent once. */

import { SMTPServer } from 'smtp-server';
import { expect, type TestContext, test } from 'vitest';
import { type ApiClient, login } from '../support/client.ts';
import { createInstallation } from '../support/installation.ts';
import { freePort } from '../support/ports.ts';
import { type Program, startProgram } from '../support/program.ts';
import { createReceiver } from '../support/receiver.ts';
import { until } from '../support/until.ts';
import { allWorkflowIds } from '../support/workflow-ids.ts';
import { untilEnded } from '../support/workflows.ts';

const KILLS = 4;

/** The tests mostly wait, each for a process of its own: they run side by side. */
type OnTestFinished = TestContext['onTestFinished'];

async function setUp(onTestFinished: OnTestFinished, env: Record<string, string> = {}) {
  const installation = await createInstallation();
  onTestFinished(() => installation.remove());
  const receiver = await createReceiver({ status: 503 });
  onTestFinished(() => receiver.close());
  let program: Program | undefined;
  onTestFinished(async () => program?.kill());
  const start = async (): Promise<Program> => {
    program = await startProgram({ ...installation.env, ...env });
    return program;
  };
  const logIn = async (): Promise<ApiClient> => login((await start()).url, installation.credentials);
  const kill = async () => {
    await program?.kill();
  };
  const subscribe = async (client: ApiClient): Promise<number> => {
    const { data } = await client.request('POST', '/webhooks', {
      url: `${receiver.url}/hook`,
      webhookType: 'CREATE_ORDER',
      active: true,
      method: 'POST',
    });
    return data.id;
  };
  return { installation, receiver, start, logIn, kill, subscribe };
}

test.concurrent('killed during an attempt, four times over: still 21 attempts before the deactivation, and one mail', async ({
  onTestFinished,
}) => {
  const { installation, receiver, start, logIn, kill, subscribe } = await setUp(onTestFinished);
  const client = await logIn();
  const webhookId = await subscribe(client);
  let kills = 0;
  let dying: Promise<void> | undefined;
  const interrupted = new Set<string>();
  receiver.respond((request) => {
    const number = String(request.headers['x-service-attempt']);
    if (kills === KILLS || interrupted.has(number)) return { status: 503 };
    // The request has arrived and is never answered: the process dies waiting.
    interrupted.add(number);
    kills += 1;
    dying = kill();
    return { hang: 'headers' };
  });
  await client.createOrder('10001');
  let program: Program | undefined;
  for (let restarts = 0; restarts < KILLS; restarts += 1) {
    await until(`kill ${restarts + 1}`, async () => kills > restarts);
    await dying;
    program = await start();
  }
  const after = await login(program?.url ?? '', installation.credentials);
  await until(
    'the deactivation',
    async () => !(await after.request('GET', `/webhooks/${webhookId}`)).data.active,
  );
  const { data: deliveries } = await after.request('GET', `/webhooks/${webhookId}/deliveries`);
  expect(deliveries).toHaveLength(1);
  const { data: delivery } = await after.request('GET', `/deliveries/${deliveries[0].id}`);
  expect(delivery.attempts.map((attempt: { number: number }) => attempt.number)).toEqual(
    Array.from({ length: 21 }, (_, index) => index + 1),
  );
  expect(delivery.attempts.every((attempt: { status: number }) => attempt.status === 503)).toBe(true);
  expect(receiver.requests).toHaveLength(21 + KILLS);
  await until('the mail', async () => (await installation.mails()).length > 0);
  expect(await installation.mails()).toHaveLength(1);
});

test.concurrent('killed during an attempt, whose next wait is long: it is repeated without that wait, under its number', async ({
  onTestFinished,
}) => {
  const { receiver, start, logIn, kill, subscribe } = await setUp(onTestFinished, {
    RETRY_INITIAL_INTERVAL: '10m',
    RETRY_COEFFICIENT: '10',
  });
  const client = await logIn();
  await subscribe(client);
  let dying: Promise<void> | undefined;
  receiver.respond(() => {
    if (dying !== undefined) return { status: 200 };
    dying = kill();
    return { hang: 'headers' };
  });
  await client.createOrder('10003');
  await until('the kill', async () => dying !== undefined);
  await dying;
  await start();
  // Less than the wait of the policy, even on a busy machine.
  await receiver.waitFor(2);
  expect(receiver.requests.map((request) => request.headers['x-service-attempt'])).toEqual(['1', '1']);
});

test.concurrent('killed between the transaction of the compensation and the mail: exactly one mail after the restart', async ({
  onTestFinished,
}) => {
  const port = await freePort();
  const mails: string[] = [];
  let onConnect: (() => Promise<void>) | undefined;
  const smtp = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS'],
    onConnect(_session, done) {
      if (onConnect === undefined) return done();
      // Here the webhook is inactive already, and the mail not yet sent.
      const die = onConnect;
      onConnect = undefined;
      void die().then(() => done(new Error('gone')));
    },
    onData(stream, _session, done) {
      let text = '';
      stream.setEncoding('utf8').on('data', (part: string) => {
        text += part;
      });
      stream.on('end', () => {
        mails.push(text);
        done();
      });
    },
  });
  await new Promise<void>((resolve) => smtp.listen(port, '127.0.0.1', resolve));
  onTestFinished(() => new Promise<void>((resolve) => smtp.close(() => resolve())));

  const { installation, start, logIn, kill, subscribe } = await setUp(onTestFinished, {
    SMTP_URL: `smtp://127.0.0.1:${port}`,
    RETRY_MAX: '1',
  });
  const client = await logIn();
  const webhookId = await subscribe(client);
  const killed = new Promise<void>((resolve) => {
    onConnect = async () => {
      await kill();
      resolve();
    };
  });
  await client.createOrder('10002');
  await killed;
  const [webhook] = await installation.sql`select active from webhooks where id = ${webhookId}`;
  expect(webhook).toEqual({ active: false });
  expect(mails).toHaveLength(0);
  await start();
  await until('the mail', async () => mails.length > 0);
  await untilEnded(installation.env.TEMPORAL_ADDRESS, await allWorkflowIds(installation.sql));
  expect(mails).toHaveLength(1);
  expect(mails[0]).toContain('Subject: Webhook');
});
