/** The log of running processes: it tells the story, without confidential or personal data. */
import { expect, it } from 'vitest';
import { login } from '../support/api/client.ts';
import { installationOfFile, programOfTest } from '../support/lifetimes.ts';
import type { Program } from '../support/programs/program.ts';
import { createReceiver } from '../support/servers/receiver.ts';
import { until } from '../support/until.ts';

const installation = await installationOfFile();
interface Line {
  readonly level: number;
  readonly msg: string;
  readonly [field: string]: unknown;
}

/** The output for people stands between the lines. */
function linesOf({ output }: Program): Line[] {
  return output()
    .split('\n')
    .filter((line) => line.startsWith('{"level"'))
    .map((line) => JSON.parse(line));
}

it('the log tells the story at info, and nothing confidential at any level', async () => {
  const start = (ROLE: string) =>
    programOfTest({ ...installation.env, ROLE, RETRY_MAX: '2', LOG_LEVEL: 'trace' });
  const [api, worker] = await Promise.all([start('api'), start('worker')]);
  const receiver = await createReceiver({
    status: 503,
    body: 'planted-answer',
    headers: { 'x-planted': 'planted-header' },
  });
  const { credentials, sql } = installation;
  const planted: string[] = [credentials.apiKey, credentials.password, installation.env.SECRET_KEY];
  try {
    const client = await login(api.url, credentials);
    planted.push(client.headers.authorization ?? '');
    await fetch(`${api.url}/v21/users/login`, {
      method: 'POST',
      headers: { 'x-api-key': credentials.apiKey, 'content-type': 'application/json' },
      body: JSON.stringify({ username: 'planted-user', password: 'planted-password' }),
    });
    const url = `${receiver.url}/planted-path?planted-query=1`;
    const created = await client.request('POST', '/webhooks', {
      url,
      webhookType: 'UPDATE_ORDER',
      active: true,
      method: 'POST',
    });
    const webhookId: number = created.data.id;
    planted.push(created.data.secret);
    await client.createOrder('planted-order');
    await client.request('PATCH', '/orders/planted-order', {
      note: 'planted-note',
      recipientName: 'Planted Nováková',
      recipientEmail: 'jana@planted.example',
    });
    await client.request('GET', '/orders/planted-missing');
    await client.request('GET', '/orders/planted-order?planted=planted-query');
    await client.request('POST', '/orders', { planted: 'planted-value' });
    await until('the mail', async () => (await installation.mails()).length > 0);
    await until('its record', async () =>
      linesOf(worker).some(({ msg }) => msg === 'notice (deactivated) mailed'),
    );
    await client.request('POST', `/webhooks/${webhookId}/test`);
    const deliveryId = String((await sql`select id from deliveries`)[0]?.id);

    // Errors of the database, with all their details.
    await installation.database.cut();
    await client.request('PATCH', '/orders/planted-order', { note: 'planted-later' });
    await installation.database.restore();
    await until('the API to reach its database', async () => (await fetch(`${api.url}/readyz`)).ok);

    const story = linesOf(api).filter(({ level }) => level >= 30);
    const request = (method: string, route: string | null, status: number) => ({
      level: 30,
      msg: 'request',
      method,
      route,
      status,
      eshopId: credentials.eshopId,
      ms: expect.any(Number),
      requestId: expect.stringMatching(/^[0-9a-f-]{36}$/),
    });
    expect(story).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ msg: 'api started', url: api.url }),
        expect.objectContaining(request('POST', '/v21/webhooks', 200)),
        expect.objectContaining(request('PATCH', '/v21/orders/:id', 200)),
        expect.objectContaining(request('GET', '/v21/orders/:id', 404)),
        expect.objectContaining(request('POST', '/v21/orders', 400)),
        expect.objectContaining({ level: 50, msg: 'request failed', route: '/v21/orders/:id' }),
      ]),
    );
    expect(story.filter(({ route }) => route === '/readyz')).toEqual([]);
    const failed = {
      level: 30,
      msg: 'attempt failed',
      deliveryId,
      webhookId,
      eventType: 'UPDATE_ORDER',
      httpStatus: 503,
    };
    expect(linesOf(worker)).toEqual(
      expect.arrayContaining([
        ...['worker', 'relay', 'reconciler', 'metrics'].map((part) =>
          expect.objectContaining({ part, msg: `${part} started` }),
        ),
        ...[1, 2, 3].map((attempt) => expect.objectContaining({ ...failed, attempt })),
        expect.objectContaining({
          level: 40,
          msg: 'webhook deactivated',
          webhookId,
          why: 'retriesExhausted',
        }),
        expect.objectContaining({ msg: 'notice (deactivated) mailed', webhookId }),
      ]),
    );
  } finally {
    await receiver.close();
  }
  expect(await Promise.all([api.stop(), worker.stop()])).toEqual([0, 0]);
  const parts = [api, worker].flatMap(linesOf).filter(({ msg }) => msg.endsWith(' stopped'));
  expect(parts.map(({ part }) => part).sort()).toEqual([
    'api',
    'metrics',
    'metrics',
    'reconciler',
    'relay',
    'worker',
  ]);

  const written = [api, worker].map(({ output }) => output()).flatMap((text) => text.split('\n'));
  for (const secret of [
    ...planted,
    'planted',
    'Planted',
    'Nov\u00e1kov',
    'whsec_',
    'shop@example.test',
    'MUG-BLUE',
    'Bearer',
  ]) {
    expect(secret).not.toBe('');
    expect(written.filter((line) => line.includes(secret))).toEqual([]);
  }
});
