/** The metrics of a worker: each moves with the thing that it measures. */
import { expect, test } from 'vitest';
import { InternalFailure } from '../../src/attempt/internal-failure.ts';
import { MailError } from '../../src/mail/mail.ts';
import { receiverOfFile, stackOfFile } from '../support/lifetimes.ts';
import { sampleOf, samplesOf } from '../support/metrics.ts';

/** The mail server's next errors; after that it accepts mails. */
const mailErrors: MailError[] = [];
let interruptions = 0;

const receiver = await receiverOfFile();
const stack = await stackOfFile('metrics', {
  policy: { maxRetries: 2 },
  timings: { reconcileIntervalMs: 200, reconcileGraceMs: 1_000 },
  mailer: {
    async send() {
      const error = mailErrors.shift();
      if (error !== undefined) throw error;
    },
  },
  wrapSender: (sender) => ({
    ...sender,
    async send(request, signal) {
      if (interruptions > 0) {
        interruptions -= 1;
        throw new InternalFailure('interrupted');
      }
      return await sender.send(request, signal);
    },
  }),
});

type Labels = Readonly<Record<string, string>>;

async function value(name: string, labels: Labels = {}): Promise<number> {
  return sampleOf(samplesOf(await stack.metrics.registry.metrics()), name, labels) ?? Number.NaN;
}

/** How much each of these has risen during some work. */
async function risen(series: readonly (readonly [string, Labels?])[], work: () => Promise<unknown>) {
  const read = () => Promise.all(series.map(([name, labels]) => value(name, labels)));
  const before = await read();
  await work();
  const after = await read();
  return after.map((each, index) => each - (before[index] ?? Number.NaN));
}

const kind = 'CREATE_ORDER';
const ended = (outcome: string) => ['waybill_deliveries_total', { outcome, event_type: kind }] as const;
const attempts = (status: string) => ['waybill_attempts_total', { status }] as const;

test('a delivery counts with outcome, kind, attempt, and both durations', async () => {
  receiver.respond({ status: 204, delayMs: 120 });
  await stack.createWebhook(receiver.url);
  const series = [
    ended('delivered'),
    ['waybill_deliveries_total', { outcome: 'delivered', event_type: 'UPDATE_ORDER' }],
    attempts('2xx'),
    ['waybill_attempt_duration_seconds_count'],
    ['waybill_attempt_duration_seconds_bucket', { le: '0.1' }],
    ['waybill_attempt_duration_seconds_bucket', { le: '60' }],
    ['waybill_commit_to_first_byte_seconds_count'],
    ['waybill_commit_to_first_byte_seconds_bucket', { le: '86400' }],
  ] as const;
  const rise = await risen(series, async () => {
    await stack.untilClosed(await stack.fireOne('counted'));
  });
  expect(rise).toEqual([1, 0, 1, 1, 0, 1, 1, 1]);
  expect(await value('waybill_commit_to_first_byte_seconds_sum')).toBeGreaterThan(0);
});

test('the time to the first byte contains the internal wait exactly once', async () => {
  let answered = 0;
  receiver.respond(() => ({ status: ++answered <= 2 ? 503 : 204 }));
  await stack.stopWorker();
  const id = await stack.fireOne('late');
  await stack.sql`update deliveries set created_at = now() - interval '100 seconds' where id = ${id}`;
  const series = [
    ['waybill_commit_to_first_byte_seconds_bucket', { le: '60' }],
    ['waybill_commit_to_first_byte_seconds_bucket', { le: '300' }],
    ['waybill_commit_to_first_byte_phase_seconds_bucket', { phase: 'queue', le: '60' }],
    ['waybill_commit_to_first_byte_phase_seconds_bucket', { phase: 'queue', le: '300' }],
    ['waybill_commit_to_first_byte_phase_seconds_bucket', { phase: 'prepare', le: '60' }],
    ['waybill_commit_to_first_byte_phase_seconds_bucket', { phase: 'send', le: '60' }],
    attempts('5xx'),
  ] as const;
  const rise = await risen(series, async () => {
    await stack.startWorker();
    await stack.untilClosed(id);
  });
  expect(rise.slice(0, 6)).toEqual([0, 1, 0, 1, 1, 1]);
  expect(rise[6]).toBeGreaterThanOrEqual(2);
});

test('an internal failure does not count as an attempt', async () => {
  receiver.respond({ status: 204 });
  interruptions = 1;
  const series = [['waybill_attempts_interrupted_total'], attempts('none'), attempts('2xx')] as const;
  const rise = await risen(series, async () => {
    await stack.untilClosed(await stack.fireOne('interrupted'));
  });
  expect(rise).toEqual([1, 0, 1]);
});

test('attempts count by status class, and so do a deactivation and its mail', async () => {
  await stack.retireWebhooks();
  const { id: webhookId } = await stack.createWebhook(receiver.url);
  const answers = [404, 302, 500];
  receiver.respond(() => ({ status: answers.shift() ?? 204 }));
  mailErrors.push(new MailError('try later'));
  const series = [
    attempts('4xx'),
    attempts('3xx'),
    attempts('5xx'),
    ended('failed'),
    ['waybill_deactivations_total', { reason: 'retriesExhausted' }],
    ['waybill_mails_total', { outcome: 'failed' }],
    ['waybill_mails_total', { outcome: 'sent' }],
    ['waybill_mails_total', { outcome: 'refused' }],
  ] as const;
  const rise = await risen(series, async () => {
    await stack.untilState(await stack.fireOne('failing'), 'failed');
    await stack.until('the mail', async () => {
      const [row] = await stack.sql`select from notices where webhook_id = ${webhookId} and outcome = 'sent'`;
      return row !== undefined;
    });
  });
  expect(rise).toEqual([1, 1, 1, 1, 1, 1, 1, 0]);
});

test('a 410 and a rejected mail are counted', async () => {
  const { id: webhookId } = await stack.createWebhook(receiver.url);
  receiver.respond({ status: 410 });
  mailErrors.push(new MailError('no such user', true));
  const series = [
    ['waybill_deactivations_total', { reason: 'gone' }],
    ['waybill_mails_total', { outcome: 'refused' }],
  ] as const;
  const rise = await risen(series, async () => {
    await stack.fireOne('gone');
    await stack.until('the rejection', async () => {
      const [row] = await stack.sql`
        select from notices where webhook_id = ${webhookId} and refused_at is not null`;
      return row !== undefined;
    });
  });
  expect(rise).toEqual([1, 1]);
});

test('attempts without a response are counted as such', async () => {
  await stack.retireWebhooks();
  const { id: webhookId } = await stack.createWebhook('http://127.0.0.1:1/');
  const [none] = await risen([attempts('none')], async () => {
    await stack.untilState(await stack.fireOne('nobody'), 'failed');
  });
  expect(none).toBe(3);
  await stack.changeWebhook(webhookId, { deleted: true });
});

/** A delivery whose webhook becomes inactive during its first attempt. */
async function heldDelivery(webhookId: number, name: string): Promise<string> {
  receiver.respond({ status: 503, delayMs: 300, headers: { 'retry-after': '600' } });
  const before = receiver.requests.length;
  const id = await stack.fireOne(name);
  await stack.until('the request', async () => receiver.requests.length > before);
  await stack.changeWebhook(webhookId, { active: false });
  await stack.untilHeld(id);
  return id;
}

test('a delivery ended by an operator counts as repaired, and as canceled like a deleted one', async () => {
  const { id: webhookId } = await stack.createWebhook(receiver.url);
  const repaired = ['waybill_repairs_total', { workflow: 'delivery', action: 'closed' }] as const;
  const first = await heldDelivery(webhookId, 'ended by an operator');
  const byOperator = await risen([ended('canceled'), repaired], async () => {
    await stack.workflow(first).terminate('enough');
    await stack.untilState(first, 'canceled');
    await stack.until('the count', async () => (await value(...repaired)) > 0);
  });
  expect(byOperator).toEqual([1, 1]);

  await stack.changeWebhook(webhookId, { active: true });
  const second = await heldDelivery(webhookId, 'ended by the deletion');
  const byDeletion = await risen([ended('canceled'), repaired], async () => {
    await stack.changeWebhook(webhookId, { deleted: true });
    await stack.untilEnded(stack.workflowId(second));
  });
  expect(byDeletion).toEqual([1, 0]);
});

test('a window that an outage used up counts as expired', async () => {
  const { id: webhookId } = await stack.createWebhook(receiver.url);
  const id = await heldDelivery(webhookId, 'expired');
  const [expired] = await risen([ended('expired')], async () => {
    await stack.stopWorker();
    await stack.sql`update deliveries set window_started_at = now() - interval '1 day' where id = ${id}`;
    await stack.startWorker();
    await stack.signal(id, 'webhookChanged');
    await stack.untilState(id, 'expired');
    await stack.untilEnded(stack.workflowId(id));
  });
  expect(expired).toBe(1);
});

test('relay passes count as busy, idle or failed', async () => {
  const passes = (result: string) => ['waybill_relay_passes_total', { loop: 'fresh', result }] as const;
  const before = await value(...passes('idle'));
  await stack.until('an idle pass', async () => (await value(...passes('idle'))) > before);
  expect(await value(...passes('failed'))).toBe(0);
  await stack.database.cut();
  await stack.until('a failed pass', async () => (await value(...passes('failed'))) > 0);
  await stack.database.restore();
});
