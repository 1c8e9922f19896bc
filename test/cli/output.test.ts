/** The output of `waybill`, on a terminal too, and its behavior when the reader stops reading. */
import { execFile, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { open } from 'node:fs/promises';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { expect, it, onTestFinished } from 'vitest';
import { createEshop } from '../../src/db/accounts/eshops.ts';
import { createWebhook } from '../../src/db/webhooks/create.ts';
import { fireDelivery, makeAttempt } from '../support/database/deliveries.ts';
import { databaseOfFile } from '../support/lifetimes.ts';
import { builtCli } from '../support/programs/built.ts';
import { runWaybill } from '../support/programs/waybill-command.ts';
import { testWebhook, unreadable } from '../support/test-webhook.ts';

const database = await databaseOfFile();

it('a command exits as on a broken pipe when the reader stops reading', async () => {
  const child = spawn(process.execPath, [builtCli, 'variables'], { stdio: ['ignore', 'pipe', 'pipe'] });
  // Long before anything is written.
  child.stdout.destroy();
  const [[code], complaints] = await Promise.all([once(child, 'close'), text(child.stderr)]);
  expect({ code, complaints }).toEqual({ code: 141, complaints: '' });
});

it('a secret shown only once goes to standard error if the output is full', async () => {
  const full = await open('/dev/full', 'w');
  onTestFinished(() => full.close());
  const args = ['eshop', 'create', '--name', 'A', '--email', 'a@a.example'];
  const { status: code, stderr: complaints } = spawnSync(process.execPath, [builtCli, ...args], {
    stdio: ['ignore', full.fd, 'pipe'],
    encoding: 'utf8',
    env: { PATH: process.env.PATH, DATABASE_URL: database.url },
  });
  expect({ code, complaints }).toEqual({
    code: 1,
    complaints: expect.stringMatching(
      /^E-shop +\d+\nx-api-key +\S+\nShop user +shop \/ \S+\nWarehouse user +\S+ \/ \S+\nThe output cannot be written: ENOSPC: .+\.\n$/,
    ),
  });
});

it('an error that repeats input contains no control or direction characters', async () => {
  const child = spawn(process.execPath, [builtCli, 'eshop', 'list'], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { PATH: process.env.PATH, DATA_DIR: '/nowhere/a\u202eb\u009b31m\u001bc' },
  });
  const [complaints] = await Promise.all([text(child.stderr), once(child, 'close')]);
  expect(complaints).toContain('a\\u202eb');
  expect(complaints).not.toMatch(/[^\P{Cc}\n]|[\u202a-\u202e]/u);
});

it('lists fit 120 columns on a terminal; pipes and JSON get full values', async () => {
  const { sql, url } = database;
  const { eshopId } = await createEshop(sql, { name: 'A', email: 'a@a.example' });
  const long = `https://shop.example/${'hooks/'.repeat(40)}`;
  const webhook = testWebhook({
    url: long,
    additionalTypes: ['UPDATE_ORDER', 'UPDATE_ORDER_STATUS', 'CREATE_PRODUCT'],
  });
  const webhookId = (await createWebhook(sql, eshopId, webhook, unreadable, 10))?.id ?? 0;
  const entityId = `order-${'9'.repeat(60)}`;
  const id = await fireDelivery(sql, { eshopId, webhookId, entityId });
  const error = `HTTP 503 from shop.example: ${'out of order '.repeat(20)}`;
  await makeAttempt(sql, id, 1, { error, nextAttemptAt: new Date(Date.now() + 3_900_000) });

  const onTerminal = async (list: string, ...more: string[]) => {
    const line = `stty cols 120 && exec "${process.execPath}" "${builtCli}" ${list} list ${more.join(' ')}`;
    const { stdout } = await promisify(execFile)(
      'script',
      ['--quiet', '--return', '--command', line, '/dev/null'],
      {
        env: { PATH: process.env.PATH, DATABASE_URL: url },
      },
    );
    return stdout.replaceAll('\r', '').trimEnd();
  };
  const deliveries = await onTerminal('deliveries');
  const webhooks = await onTerminal('webhooks');
  const failing = await onTerminal('webhooks', '--failing');
  for (const line of `${deliveries}\n${webhooks}\n${failing}`.split('\n'))
    expect(line.length, line).toBeLessThanOrEqual(120);
  expect(deliveries).toMatch(
    new RegExp(
      `^${id} .* 20\\d\\d-\\S+ \\d\\d:\\d\\dZ +CREA\\S*… +orde\\S*… +retrying 1/21 +1 h +503 .*…$`,
      'm',
    ),
  );
  expect(webhooks).toMatch(/ failing since 20\S+ \d\d:\d\dZ….* https:\/\/shop\.example\/\S+…$/m);
  expect(failing).toMatch(/ failing since 20\S+ \d\d:\d\dZ….* shop\.example +503 from shop\.example.*…$/m);
  expect(JSON.parse(await onTerminal('deliveries', '--json'))).toMatchObject([
    { entityId, lastError: error },
  ]);
  expect(JSON.parse(await onTerminal('webhooks', '--json'))).toMatchObject([{ url: long }]);
  const env = { DATABASE_URL: url };
  expect(await runWaybill(['deliveries', 'list'], env)).toContain(error.trimEnd().replace('HTTP ', ''));
  expect(await runWaybill(['webhooks', 'list'], env)).toContain(long);
});
