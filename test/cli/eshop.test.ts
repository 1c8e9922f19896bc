/** `waybill eshop show|update` and `waybill contract`, and the contract's effect on the API. */
import { beforeEach, describe, expect, it } from 'vitest';
import { createWebhook, minimalWebhook } from '../support/api/webhooks.ts';
import { apiOfFile, eshopOfEachTest } from '../support/lifetimes.ts';
import { runWaybill } from '../support/programs/waybill-command.ts';

let id: string;

const api = await apiOfFile();
const { eshop, request } = eshopOfEachTest(api);
beforeEach(() => {
  id = String(eshop.eshopId);
});

const waybill = (...args: string[]) => runWaybill(args, { DATABASE_URL: api.database.url });
const webhook = (fields: object = {}) => request('POST', '/v21/webhooks', { ...minimalWebhook, ...fields });

describe('eshop', () => {
  it('show prints the state of an e-shop', async () => {
    await webhook();
    await webhook({ active: false });
    const text = await waybill('eshop', 'show', '--eshop', id);
    expect(text).toMatch(/^API +open$/m);
    expect(text).toMatch(/^Webhooks +1 active webhook, 1 inactive$/m);
    expect(text).toMatch(/^Max\. webhooks +100$/m);
    await waybill('eshop', 'disable', '--eshop', id);
    expect(await waybill('eshop', 'show', '--eshop', id)).toMatch(/^API +disabled since 20/m);
    expect(JSON.parse(await waybill('eshop', 'show', '--eshop', id, '--json'))).toMatchObject({
      eshopId: eshop.eshopId,
      webhooks: { active: 1, inactive: 1 },
      users: expect.arrayContaining([`shop-${id}`]),
      contract: { webhookTypes: null, maxWebhooks: 100 },
    });
  });

  it('update changes only the given fields', async () => {
    const before = JSON.parse(await waybill('eshop', 'show', '--eshop', id, '--json'));
    const changed = await waybill('eshop', 'update', '--eshop', id, '--email', 'new@example.com', '--json');
    expect(JSON.parse(changed)).toMatchObject({ email: 'new@example.com', sentAgain: 0 });
    const after = JSON.parse(
      await waybill('eshop', 'update', '--eshop', id, '--name', ' Čajovna ', '--json'),
    );
    await waybill('eshop', 'update', '--eshop', id, '--warning-mails', 'no');
    expect(await waybill('eshop', 'show', '--eshop', id)).toMatch(/^Warnings +not sent$/m);
    await waybill('eshop', 'update', '--eshop', id, '--warning-mails', 'yes');
    expect(after).toEqual({ ...before, name: 'Čajovna', email: 'new@example.com' });
  });

  it('mistakes are reported in one sentence', async () => {
    await expect(waybill('eshop', 'update', '--eshop', id)).rejects.toThrow('Nothing to change: ');
    await expect(waybill('eshop', 'update', '--eshop', id, '--email', 'x')).rejects.toThrow(
      '--email must be an e-mail address.',
    );
    for (const args of [
      ['eshop', 'show'],
      ['eshop', 'update', '--name', 'A'],
      ['contract', 'show'],
    ]) {
      await expect(waybill(...args, '--eshop', '7')).rejects.toThrow('E-shop 7 does not exist.');
    }
  });
});

describe('contract', () => {
  const set = (...args: string[]) => waybill('contract', 'set', '--eshop', id, ...args);

  it('settings apply to the next request; the others keep their values', async () => {
    await createWebhook(eshop.shop.request, { url: 'https://shop.example', webhookType: 'CREATE_PRODUCT' });
    expect(await set('--types', 'CREATE_ORDER, UPDATE_ORDER', '--max-webhooks', '2')).toMatch(
      /\n1 existing webhook would no longer be allowed; it stays as it is\.$/,
    );
    await set('--packing-lists', 'no', '--delete-webhooks', 'no', '--payload-versions', 'v21');
    expect(JSON.parse(await waybill('contract', 'show', '--eshop', id, '--json'))).toEqual({
      eshopId: eshop.eshopId,
      webhookTypes: ['CREATE_ORDER', 'UPDATE_ORDER'],
      payloadVersions: ['v21'],
      withPackingLists: false,
      maxWebhooks: 2,
      deleteWebhooks: false,
    });
    const refused = await webhook({ webhookType: 'CREATE_RETURN', payloadVersion: 'v2' });
    expect(refused.status).toBe(400);
    expect(refused.body.message).toContain('the contract does not allow CREATE_RETURN');
    const made = await webhook({ payloadVersion: 'v21' });
    expect((await eshop.shop.request('DELETE', `/v21/webhooks/${made.data.id}`)).status).toBe(400);
    expect((await webhook({ payloadVersion: 'v21' })).body.message).toContain('at most 2 webhooks');
    await set('--types', 'all', '--payload-versions', 'all', '--max-webhooks', '3');
    expect((await webhook({ webhookType: 'CREATE_RETURN' })).status).toBe(200);
  });

  it('mistakes are reported in one sentence and change nothing', async () => {
    const wrong = (...args: string[]) => expect(set(...args)).rejects;
    await wrong().toThrow('Nothing to change: give --types');
    await wrong('--types', 'ORDER').toThrow('--types must be all, none, or some of CREATE_ORDER');
    await wrong('--payload-versions', 'v3').toThrow('--payload-versions must be all, none, or some of v2');
    await wrong('--max-webhooks', '-1').toThrow('--max-webhooks must be an integer from 0 to 10000.');
    await wrong('--packing-lists', 'maybe').toThrow('--packing-lists must be yes or no.');
    expect(await waybill('contract', 'show', '--eshop', id)).toMatch(/^Types +all$/m);
  });
});
