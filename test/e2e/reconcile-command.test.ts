/** `waybill reconcile` as an operator runs it. */
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { Client, Connection } from '@temporalio/client';
import { afterAll, expect, it } from 'vitest';
import { transaction } from '../../src/db/transaction.ts';
import { createWebhook } from '../../src/db/webhooks/create.ts';
import { recordEvent } from '../support/database/record-event.ts';
import { installationOfFile } from '../support/lifetimes.ts';
import { workflowIdOf } from '../support/temporal/workflow-ids.ts';
import { testWebhook, unreadable } from '../support/test-webhook.ts';

const program = fileURLToPath(new URL('../../bin/waybill.js', import.meta.url));

const installation = await installationOfFile();
const connection: Connection = await Connection.connect({ address: installation.env.TEMPORAL_ADDRESS });
const { sql, credentials } = installation;
const { eshopId } = credentials;
const webhook = testWebhook({ url: 'http://127.0.0.1:9/' });
await createWebhook(sql, eshopId, webhook, unreadable, 10);
const record = { eshopOrderId: '10001' };
await transaction(sql, (tx) => recordEvent(tx, { eshopId, type: 'CREATE_ORDER', entityId: '10001', record }));
// Dispatched, to a Temporal that has lost it.
const [row] = await sql<{ id: string }[]>`update deliveries set dispatched_at = now() returning id`;
const id: string = row?.id ?? '';
afterAll(() => connection.close());

function reconcile(args: readonly string[], more: Record<string, string> = {}) {
  return new Promise<{ code: number; stdout: string; stderr: string }>((resolve) => {
    const env = { PATH: process.env.PATH ?? '', ...installation.env, ...more };
    execFile(process.execPath, [program, 'reconcile', ...args], { env }, (error, stdout, stderr) => {
      resolve({ code: error === null ? 0 : Number(error.code), stdout, stderr });
    });
  });
}
const status = async () => {
  const { workflow } = new Client({ connection });
  return (
    await workflow
      .getHandle(await workflowIdOf(installation.sql, id))
      .describe()
      .catch(() => undefined)
  )?.status.name;
};

it('--dry-run names the repairs, and changes nothing', async () => {
  const { code, stdout } = await reconcile(['--dry-run']);
  expect(code).toBe(0);
  expect(stdout).toBe(
    `delivery  deliveryId ${id}, attemptsMade 0  started again  no longer in Temporal\n` +
      '1 checked: 1 delivery started again (no longer in Temporal). Nothing was changed (dry run).\n',
  );
  expect(await status()).toBeUndefined();
});

it('a repair is made once, and --json prints it for a program', async () => {
  const first = await reconcile(['--json']);
  expect(first.code).toBe(0);
  expect(JSON.parse(first.stdout)).toEqual({
    dryRun: false,
    looked: 1,
    repairs: [
      {
        kind: 'delivery',
        reason: 'missing',
        action: 'startedAgain',
        name: { deliveryId: id, attemptsMade: 0 },
      },
    ],
  });
  expect(await status()).toBe('RUNNING');
  expect((await reconcile([])).stdout).toBe('1 checked: nothing to repair.\n');
});

it('a delivery whose workflow an operator ended in Temporal is closed', async () => {
  const workflowId = await workflowIdOf(installation.sql, id);
  await new Client({ connection }).workflow.getHandle(workflowId).terminate('a wrong webhook');
  const { stdout } = await reconcile([]);
  expect(stdout).toMatch(
    /closed as canceled by an operator {2}terminated in Temporal by .+: a wrong webhook\n/,
  );
  expect(await installation.sql`select state from deliveries`).toEqual([{ state: 'canceled' }]);
});

it('each repair is named as it is made, and Ctrl-C ends the command', async () => {
  // Seconds of work, at its rate of checks.
  const names = Array.from({ length: 1_000 }, (_, n) => `lost ${n}`);
  await transaction(sql, async (tx) => {
    for (const entityId of names)
      await recordEvent(tx, { eshopId, type: 'CREATE_ORDER', entityId, record: { eshopOrderId: entityId } });
  });
  await sql`update deliveries set dispatched_at = now() where dispatched_at is null`;
  const env = { PATH: process.env.PATH ?? '', ...installation.env };
  const running = spawn(process.execPath, [program, 'reconcile', '--dry-run'], { env });
  const written = { out: '', err: '' };
  running.stderr.on('data', (piece: Buffer) => {
    written.err += piece.toString();
  });
  running.stdout.on('data', (piece: Buffer) => {
    if (written.out === '') running.kill('SIGINT');
    written.out += piece.toString();
  });
  const [code] = await once(running, 'close');
  expect(code).toBe(130);
  expect(written.out).toMatch(/^delivery {2}deliveryId .+ {2}started again {2}no longer in Temporal\n/);
  expect(written.out.split('\n').length).toBeLessThan(names.length);
  expect(written.err).toBe('Interrupted. What has been repaired stays: run it again for the rest.\n');
});

it('an unavailable Temporal is reported in a sentence', async () => {
  const { code, stdout, stderr } = await reconcile([], { TEMPORAL_ADDRESS: '127.0.0.1:1' });
  expect(code).toBe(1);
  expect(stderr).toBe('Temporal at 127.0.0.1:1 cannot be reached.\n');
  expect(stdout).toBe('');
});
