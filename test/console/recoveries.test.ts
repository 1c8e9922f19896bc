/** The recoveries on the page of their webhook: the e-shop pauses, resumes and cancels its own. */
import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { controlRecovery } from '../../src/db/recoveries/recoveries.ts';
import { consoleOf, newPerson, signIn } from '../support/api/console.ts';
import { visitorOf } from '../support/api/visitor.ts';
import { createWebhook } from '../support/api/webhooks.ts';
import { apiOfFile } from '../support/lifetimes.ts';

const api = await apiOfFile();
const { sql } = api;
const { id: webhookId } = await createWebhook(api.shop);
const recoveryId = randomUUID();
await sql`
  insert into recoveries (id, eshop_id, webhook_id, since, until, include, found)
  values (${recoveryId}, ${api.eshop.eshopId}, ${webhookId}, now(), now(), '{failed}', 3)`;
const { ask } = visitorOf(consoleOf(api.deps));
await signIn(ask, await newPerson(sql, api.eshop.eshopId, 'shop'));
const path = `/console/webhooks/${webhookId}`;

const shown = async () => {
  const { text } = await ask(path);
  const offered = [...text.matchAll(/>\s*(Pause|Resume|Cancel) recovery\s*</g)].map(([, name]) => name);
  return { text, offered };
};
/** @returns the notice, or the refusal */
async function act(action: string): Promise<string> {
  const { csrf } = await ask(path);
  const answer = await ask(`${path}/recoveries/${recoveryId}/${action}`, { csrf });
  const to = answer.headers.get('location');
  const { text } = to === null ? answer : await ask(to);
  const [, said = ''] = /role="(?:status|alert)">(.*?)<\/p>/s.exec(text) ?? [];
  return said.replaceAll(/<[^>]*>/g, '');
}

test('a recovery under way can be paused; one that waits for its webhook can only be canceled', async () => {
  expect((await shown()).offered).toEqual(['Pause', 'Cancel']);
  expect(await act('pause')).toContain('The recovery is paused');
  const paused = await shown();
  expect(paused.offered).toEqual(['Resume', 'Cancel']);
  expect(paused.text).toContain('Paused on request.');
  expect(await act('resume')).toContain('The recovery continues');
  expect((await shown()).offered).toEqual(['Pause', 'Cancel']);
  await controlRecovery(sql, recoveryId, 'pause', { by: 'operator', comment: 'too fast' });
  expect((await shown()).text).toContain('Paused by the operator of the warehouse: too fast');
  await api.shop('PUT', `/v21/webhooks/${webhookId}/pause`);
  expect((await shown()).offered).toEqual(['Cancel']);
  await api.shop('PUT', `/v21/webhooks/${webhookId}/deactivate`);
  expect((await shown()).offered).toEqual(['Cancel']);
  expect(await act('resume')).toContain('is inactive');
  await api.shop('PUT', `/v21/webhooks/${webhookId}/activate`);
  expect((await shown()).offered).toEqual(['Resume', 'Cancel']);
  expect(await act('cancel')).toContain('The recovery was canceled');
  expect((await shown()).offered).toEqual([]);
  expect(await act('pause')).toContain('there is nothing to pause');
});
