/** The process killed while it mails a warning: never none, and at most two, which are one by their Message-ID. */
import PostalMime from 'postal-mime';
import { expect, test } from 'vitest';
import { warningWorkflowId } from '../../workflows/warning-types.ts';
import { login } from '../support/client.ts';
import { createInstallation } from '../support/installation.ts';
import { startMailServer } from '../support/mail-server.ts';
import { type Program, startProgram } from '../support/program.ts';
import { createReceiver } from '../support/receiver.ts';
import { until } from '../support/until.ts';
import { untilEnded } from '../support/workflows.ts';

test('killed before the mail leaves, and once more when the mail server has taken it', async ({
  onTestFinished,
}) => {
  const installation = await createInstallation();
  onTestFinished(() => installation.remove());
  const receiver = await createReceiver({ status: 503 });
  onTestFinished(() => receiver.close());
  const server = await startMailServer();
  onTestFinished(() => server.close());
  let program: Program | undefined;
  onTestFinished(async () => program?.kill());
  const start = async (): Promise<Program> => {
    program = await startProgram({
      ...installation.env,
      SMTP_URL: server.url,
      // One wait of an hour: the first failed attempt is the last call.
      RETRY_INITIAL_INTERVAL: '1h',
      RETRY_MAX: '1',
    });
    return program;
  };
  const deaths: string[] = [];
  server.behaviour.beforeRecipient = async () => {
    if (deaths.length > 0) return;
    deaths.push('before the mail');
    await program?.kill();
  };
  server.behaviour.beforeTaking = async () => {
    if (deaths.length > 1) return;
    deaths.push('before the answer');
    await program?.kill();
  };

  const client = await login((await start()).url, installation.credentials);
  await client.request('POST', '/webhooks', {
    url: `${receiver.url}/hook`,
    webhookType: 'CREATE_ORDER',
    active: true,
    method: 'POST',
  });
  await client.createOrder('10001');
  await until('the first death', async () => deaths.length > 0);
  expect(server.mails).toHaveLength(0);
  await start();
  await until('the second death', async () => server.mails.length > 0);
  await start();
  const [warning, ...others] = await installation.sql<{ id: string }[]>`select id from warnings`;
  expect(others).toEqual([]);
  await untilEnded(installation.env.TEMPORAL_ADDRESS, [warningWorkflowId(warning?.id ?? '')]);
  const [row] = await installation.sql<{ mailedAt: Date | null }[]>`select mailed_at from warnings`;
  expect(row?.mailedAt).toBeInstanceOf(Date);
  const ids = await Promise.all(
    server.mails.map(async ({ content }) => (await PostalMime.parse(content)).messageId),
  );
  expect(ids).toHaveLength(2);
  expect(new Set(ids)).toEqual(new Set([`<warning-${warning?.id}@waybill.local>`]));
});
