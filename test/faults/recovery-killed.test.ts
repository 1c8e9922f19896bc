/** The process killed in the middle of a recovery: nothing is missing, and only what was in flight comes twice. */
import { expect, test } from 'vitest';
import { login } from '../support/client.ts';
import { createInstallation } from '../support/installation.ts';
import { startProgram } from '../support/program.ts';
import { createReceiver } from '../support/receiver.ts';
import { loseMany, recoveredBy } from '../support/recoveries.ts';
import { until } from '../support/until.ts';

const EVENTS = 150;

test('killed twice: each event has one delivery more, and each of these arrives', async ({
  onTestFinished,
}) => {
  const installation = await createInstallation();
  onTestFinished(() => installation.remove());
  const { sql, credentials, env } = installation;
  const receiver = await createReceiver();
  onTestFinished(() => receiver.close());
  let program = await startProgram(env);
  onTestFinished(() => program.kill());
  const shop = await login(program.url, credentials);
  const webhook = { url: receiver.url, webhookType: 'CREATE_ORDER', active: true, method: 'POST' };
  const { id: webhookId } = (await shop.request('POST', '/webhooks', webhook)).data;
  await loseMany({ sql, eshopId: credentials.eshopId, webhookId }, EVENTS);
  const since = new Date(Date.now() - 3_600_000).toISOString();
  const { data } = await shop.request('POST', `/webhooks/${webhookId}/recover`, { since });
  expect(data).toMatchObject({ count: EVENTS });

  const unrecorded = new Set<string>();
  for (const arrived of [10, 70]) {
    await receiver.waitFor(arrived);
    await program.kill();
    for (const { id } of await recoveredBy(sql, data.recoveryId).then((rows) =>
      rows.filter(({ state }) => state !== 'delivered'),
    )) {
      unrecorded.add(id);
    }
    program = await startProgram(env);
  }
  await until(
    'the end of the recovery',
    async () => (await sql`select from recoveries where state = 'completed'`).length === 1,
  );
  const recovered = await recoveredBy(sql, data.recoveryId);
  expect(new Set(recovered.map(({ eventId }) => eventId)).size).toBe(EVENTS);
  expect(recovered).toHaveLength(EVENTS);
  expect(recovered.filter(({ state }) => state !== 'delivered')).toEqual([]);
  const requests = (id: string) =>
    receiver.requests.filter(({ headers }) => headers['x-service-delivery'] === id).length;
  expect(recovered.filter(({ id }) => requests(id) === 0)).toEqual([]);
  expect(recovered.filter(({ id }) => requests(id) > 1 && !unrecorded.has(id))).toEqual([]);
});
