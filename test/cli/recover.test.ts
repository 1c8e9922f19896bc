/** `waybill recover` and `waybill recoveries` on a real database and worker. */
import { beforeEach, describe, expect, it } from 'vitest';
import { makeAhead } from '../../src/retention/retain.ts';
import { loseEvents } from '../support/api/recoveries.ts';
import { receiverOfFile, stackOfFile } from '../support/lifetimes.ts';
import { runWaybill, triedWaybill } from '../support/programs/waybill-command.ts';
import type { ReceiverAnswer } from '../support/servers/receiver.ts';

let webhookId: number;

const stack = await stackOfFile('cli-recover', { policy: { windowMs: 3_600_000, maxRetries: 1 } });
const receiver = await receiverOfFile();
const env: Record<string, string> = { DATABASE_URL: stack.database.url };
await makeAhead(stack.sql);
beforeEach(async () => {
  await stack.retireWebhooks();
  receiver.clear();
  receiver.respond({});
  webhookId = (await stack.createWebhook(receiver.url)).id;
});

const hourAgo = () => new Date(Date.now() - 3_600_000).toISOString();
const recover = (...args: string[]) => runWaybill(['recover', String(webhookId), ...args], env);
const recoveries = (...args: string[]) => runWaybill(['recoveries', ...args], env);
const lose = (state: Parameters<typeof loseEvents>[1], ...names: string[]) =>
  loseEvents({ sql: stack.sql, eshopId: stack.eshopId, webhookId }, state, names);

/** Postpones every further attempt until long after the test. */
const LATER: ReceiverAnswer = { status: 503, headers: { 'retry-after': '600' } };

/** Begins a recovery that makes no progress, unless its receiver answers otherwise. */
async function begun(answer = LATER): Promise<string> {
  receiver.respond(answer);
  await lose('failed', 'lost');
  return JSON.parse(await recover('--since', hourAgo(), '--json')).recoveryId;
}

describe('recover', () => {
  it('redelivers lost events, and reports the outcome', async () => {
    await lose('failed', 'a', 'b');
    await lose('canceled', 'c');
    const since = hourAgo();
    expect(await recover('--since', since, '--dry-run')).toMatch(
      /^2 events, from .* to .*, in about .*\. Nothing was recovered \(dry run\)\.$/,
    );
    expect(receiver.requests).toEqual([]);
    const lines = (await recover('--since', since, '--watch')).split('\n');
    expect(lines[0]).toMatch(/^Recovery [0-9a-f-]{36}: 2 events, /);
    expect(lines.at(-1)).toBe('completed: 2 done, 0 failed, 0 left');
    expect(receiver.requests).toHaveLength(2);
    expect(await recover('--since', since, '--dry-run', '--include', 'canceled')).toMatch(/^1 event, /);
  });

  it('prints JSON: the recovery, then one line for each change', async () => {
    await lose('failed', 'a');
    const printed = await recover('--since', hourAgo(), '--include', 'canceled, failed', '--json', '--watch');
    const [answer, ...looks] = printed.split('\n').map((line) => JSON.parse(line));
    expect(answer).toMatchObject({ webhookId, count: 1, known: false, include: ['failed', 'canceled'] });
    expect(looks.at(-1)).toMatchObject({
      recoveryId: answer.recoveryId,
      state: 'completed',
      done: 1,
      left: 0,
    });
  });

  it('the same request finds the running recovery; a different one is refused', async () => {
    await stack.changeWebhook(webhookId, { active: true });
    receiver.respond(LATER);
    await lose('failed', ...Array.from({ length: 30 }, (_, index) => `many ${index}`));
    const since = hourAgo();
    const first = JSON.parse(await recover('--since', since, '--json'));
    expect(await recover('--since', since)).toMatch(
      new RegExp(`^Recovery ${first.recoveryId} is already running: 30 events, `),
    );
    await expect(recover('--since', since, '--include', 'failed')).rejects.toThrow(
      `Recovery ${first.recoveryId} of this webhook is still looking for its events`,
    );
    await recoveries('cancel', first.recoveryId);
  });

  it('a recovery whose deliveries failed again is reported with an exit code', async () => {
    const id = await begun({ status: 503 });
    await stack.until('the retries to be spent', async () => {
      const [row] = await stack.sql<{ state: string }[]>`
        select state from deliveries where recovery_id = ${id}`;
      return row?.state === 'failed';
    });
    // Its last failure has deactivated the webhook, and the recovery waits for its activation.
    await stack.changeWebhook(webhookId, { active: true });
    const { printed, error, code } = await triedWaybill(['recoveries', 'show', id, '--watch'], env);
    expect(printed).toMatch(/completed: 0 done, 1 failed, 0 left$/);
    expect(error).toBe('1 delivery failed again: start another recovery to retry it.');
    expect(code).toBe(2);
  });

  it('--watch continues after an outage of the database', async () => {
    const id = await begun();
    const lines: string[] = [];
    const watching = triedWaybill(['recoveries', 'show', id, '--watch'], env, lines);
    await stack.until('the first look', async () => lines.length > 0);
    await stack.database.cut();
    // For one look, at least.
    await new Promise((resolve) => setTimeout(resolve, 1_500));
    await stack.database.restore();
    await stack.until('it is canceled', () =>
      recoveries('cancel', id).then(
        () => true,
        () => false,
      ),
    );
    const { printed, code } = await watching;
    expect(printed).toMatch(/\ncanceled: .*$/);
    expect(code).toBe(2);
  });

  it('mistakes are reported in one sentence', async () => {
    const wrong = (...args: string[]) => expect(recover(...args)).rejects;
    await wrong('--since', '2999-01-01').toThrow('--since must not be in the future.');
    await wrong('--since', 'x').toThrow('--since must be a time such as');
    await wrong('--since', '2026-01-02', '--until', '2026-01-01').toThrow('--until must be later');
    // Without --include the period begins with the webhook.
    const before = ['--since', '2020-01-01', '--until', '2020-01-02'];
    await wrong(...before).toThrow(/--until must be later than .*, when the period begins\./);
    await wrong('--since', '2026-01-01', '--include', 'lost').toThrow('--include must be some of failed');
    await wrong('--since', '2026-01-01', '--dry-run', '--watch').toThrow('cannot be combined');
    await stack.changeWebhook(webhookId, { active: false });
    await wrong('--since', '2026-01-01').toThrow(`Webhook ${webhookId} is inactive`);
    await expect(runWaybill(['recover', '999999', '--since', '2026-01-01'], env)).rejects.toThrow(
      'There is no webhook 999999.',
    );
  });
});

describe('recoveries', () => {
  it('are listed, paused, resumed and canceled, with who did it and why', async () => {
    const id = await begun();
    expect(await recoveries('list')).toMatch(new RegExp(`^${id} .* running `, 'm'));
    expect(await recoveries('pause', id, '--reason', 'the shop is being moved')).toContain(
      'Paused by the operator of the warehouse: the shop is being moved',
    );
    expect(JSON.parse(await recoveries('show', id, '--json'))).toMatchObject({ state: 'paused', count: 1 });
    expect(await recoveries('resume', id)).toMatch(/^State +running: /m);
    expect(JSON.parse(await recoveries('cancel', id, '--json'))).toMatchObject({ state: 'canceled' });
    await expect(recoveries('resume', id)).rejects.toThrow(
      `Recovery ${id} is canceled: there is nothing to resume.`,
    );
    const listed = JSON.parse(await recoveries('list', '--webhook', String(webhookId), '--json'));
    expect(listed).toMatchObject([{ recoveryId: id, state: 'canceled' }]);
    expect(await recoveries('list', '--all')).toContain(id);
    expect(await recoveries('list')).not.toContain(id);
  });

  it('a recovery that waits for its webhook cannot be resumed by command', async () => {
    const id = await begun();
    await stack.changeWebhook(webhookId, { active: false });
    await expect(recoveries('resume', id)).rejects.toThrow(`waybill webhooks activate ${webhookId}`);
    await recoveries('cancel', id);
  });

  it('an unknown recovery is reported', async () => {
    const none = '01a205b3-d000-7000-8000-000000000000';
    await expect(recoveries('show', none)).rejects.toThrow(`There is no recovery ${none}.`);
    await expect(recoveries('show', none, '--watch')).rejects.toThrow(`There is no recovery ${none}.`);
    await expect(recoveries('cancel', none)).rejects.toThrow(`There is no recovery ${none}.`);
    await expect(recoveries('cancel', '7')).rejects.toThrow('must be the id of a recovery.');
  });
});
