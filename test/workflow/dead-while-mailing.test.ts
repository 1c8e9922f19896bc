/** Workers die while mailing: the next one mails. No mail is lost; one is sent twice only if it had been accepted. */
import { expect, inject, onTestFinished, test } from 'vitest';
import type { RetryPolicy } from '../../src/domain/retry-policy.ts';
import type { Mail, Mailer } from '../../src/mail/mail.ts';
import { buildWorkflowBundle } from '../../src/temporal/workflow-bundle.ts';
import { noticeWorkflowId } from '../../workflows/notice-types.ts';
import { receiverOfTest, stackOfTest } from '../support/lifetimes.ts';
import { startTcpProxy, type TcpProxy } from '../support/servers/tcp-proxy.ts';

const { code } = await buildWorkflowBundle();
/** The workflows, but a worker that mails is dead after 4 s: long enough for a living one on a busy machine. */
const impatient = code.replace(/MAIL_HEARTBEAT_MS = 60_?000/, 'MAIL_HEARTBEAT_MS = 4000');
if (impatient === code) throw new Error('The time-out is not found in the bundle.');

type Death = 'before the mail' | 'before the answer';

/** Each mail meets the next death: its worker is cut off from then on. */
async function dying(policy: Partial<RetryPolicy>, ...deaths: Death[]) {
  const taken: Mail[] = [];
  const links: TcpProxy[] = [];
  const over = new AbortController();
  let died = 0;
  const mailer: Mailer = {
    async send(mail) {
      const death = deaths[died];
      if (death !== 'before the mail') taken.push(mail);
      if (death === undefined) return;
      died += 1;
      links.at(-1)?.refuse();
      await new Promise((_resolve, reject) => over.signal.addEventListener('abort', reject));
    },
  };
  const stack = await stackOfTest('dead-while-mailing', { policy, mailer, worker: false });
  const [host = '', port] = inject('temporalAddress').split(':');
  const startWorker = async () => {
    const link = await startTcpProxy({ host, port: Number(port) });
    links.push(link);
    const worker = await stack.newWorker({ temporalAddress: link.host, workflowBundle: { code: impatient } });
    onTestFinished(async () => {
      over.abort();
      link.pass();
      await worker.stop();
      await link.close();
    });
  };
  const receiver = await receiverOfTest({ status: 503 });
  await startWorker();
  const webhook = await stack.createWebhook(receiver.url);
  const id = await stack.fireOne('10001');
  for (const death of deaths.keys()) {
    await stack.until(`death ${death + 1}`, async () => died > death);
    await startWorker();
  }
  return { stack, webhook, id, taken };
}

test('a worker dies between the compensation and its mail: exactly one mail is sent', async () => {
  const { stack, webhook, id, taken } = await dying({ maxRetries: 1 }, 'before the mail');
  expect(await stack.untilClosed(id)).toBe('FAILED');
  expect(await stack.webhook(webhook.id)).toMatchObject({ active: false });
  expect(taken.map(({ subject }) => subject)).toEqual([expect.stringContaining('Webhook')]);
});

test('workers die before sending a warning and after: both mails have one Message-ID', async () => {
  const hour = 3_600_000;
  // A single wait of an hour: the first failed attempt is the last one with time for a warning.
  const policy = { initialIntervalMs: hour, maxRetries: 1, windowMs: 2 * hour };
  const { stack, taken } = await dying(policy, 'before the mail', 'before the answer');
  const [warning, ...others] = await stack.sql<{ id: string }[]>`select id from notices`;
  expect(others).toEqual([]);
  expect(await stack.untilEnded(noticeWorkflowId(warning?.id ?? ''))).toBe('COMPLETED');
  const messageId = `<warning-${warning?.id}@waybill.local>`;
  expect(taken.map((mail) => mail.messageId)).toEqual([messageId, messageId]);
  expect(await stack.sql`select outcome from notices`).toEqual([{ outcome: 'sent' }]);
});
