/** The form of a webhook replaces the whole webhook: saving must keep unchanged fields. */
import { expect, test } from 'vitest';
import { settingsOf, type WebhookInput, webhookFields } from '../../src/domain/webhook.ts';
import { consoleOf, newPerson, signIn } from '../support/api/console.ts';
import { visitorOf } from '../support/api/visitor.ts';
import { apiOfFile } from '../support/lifetimes.ts';
import { testWebhook } from '../support/test-webhook.ts';
import { until } from '../support/until.ts';

/** Every field differs from its default. */
const full: WebhookInput = {
  url: 'https://shop.example/other',
  webhookType: 'UPDATE_ORDER',
  additionalTypes: ['CREATE_ORDER', 'CREATE_STOCK_MOVEMENT_RETURN'],
  active: false,
  method: 'GET',
  parameters: { withPackingLists: true },
  payloadVersion: 'v21',
  description: '\nfor "the ERP"\n& <the till>',
  ordering: 'record',
  skipOwn: true,
  asymmetric: true,
};

const deliveriesFrom = { addresses: ['203.0.113.0/28'], userAgent: 'Waybill/test' };
const api = await apiOfFile({ deliveriesFrom });
const { ask } = visitorOf(consoleOf(api.deps));
await signIn(ask, await newPerson(api.sql, api.eshop.eshopId, 'shop'));

const CHARACTERS: Readonly<Record<string, string>> = { lt: '<', gt: '>', quot: '"', '#39': "'", amp: '&' };
const plain = (html = '') => html.replaceAll(/&(#?\w+);/g, (all, name: string) => CHARACTERS[name] ?? all);

/** The fields that a browser sends from a page's one form. */
function sent(html: string): Record<string, string> {
  const form = /<form[^>]*class="card form".*?<\/form>/s.exec(html)?.[0] ?? '';
  const fields: Record<string, string> = {};
  for (const [, name = '', rest = '', text = ''] of form.matchAll(
    /<(?:input|select|textarea)(?=[^>]* name="(\w+)")([^>]*)>(?:([^<]*(?:<option.*?)?)<\/(?:select|textarea)>)?/gs,
  )) {
    const [, option] = /<option value="([^"]*)" selected/.exec(text) ?? [];
    const [, value] = / value="([^"]*)"/.exec(rest) ?? [];
    if (rest.includes('type="checkbox"') && !/ checked(?!\w)/.test(rest)) continue;
    const line = option ?? value?.replaceAll('\n', '');
    fields[name] = plain(line ?? text.replace(/^\n/, '').replaceAll('\n', '\r\n'));
  }
  return fields;
}

/** The webhook of a page. */
const idOf = (html: string) => Number(/\/console\/webhooks\/(\d+)\/edit/.exec(html)?.[1]);

async function created(fields: Partial<WebhookInput> = {}): Promise<number> {
  return (await api.shop('POST', '/v21/webhooks', { ...full, ...fields })).data.id;
}

/** Sends a form with a fresh CSRF token, and follows the redirect. */
async function send(path: string, form: Record<string, string>) {
  const { csrf } = await ask('/console');
  const answer = await ask(path, { ...form, csrf });
  const to = answer.headers.get('location');
  return to === null ? answer : { ...(await ask(to)), status: answer.status };
}

async function save(id: number, form: Record<string, string>) {
  const saved = await send(`/console/webhooks/${id}/edit`, form);
  expect(saved.status).toBe(303);
  return settingsOf((await api.shop('GET', `/v21/webhooks/${id}`)).data);
}

test('saving an unchanged form changes nothing', async () => {
  for (const field of webhookFields) expect(full[field], field).not.toEqual(testWebhook()[field]);
  const id = await created();
  expect(await save(id, sent((await ask(`/console/webhooks/${id}/edit`)).text))).toEqual(full);
});

test('saving keeps every parameter, and adds none', async () => {
  const each: Partial<WebhookInput>[] = [
    { method: 'POST', parameters: { withoutPersonalData: true } },
    { method: 'POST', parameters: { withPackingLists: true, withoutPersonalData: true } },
    { additionalTypes: ['UPDATE_PRODUCT'], parameters: { onStockChange: true } },
    { parameters: null },
  ];
  for (const fields of each) {
    const id = await created(fields);
    const form = sent((await ask(`/console/webhooks/${id}/edit`)).text);
    expect(await save(id, form)).toEqual({ ...full, ...fields });
  }
});

test('the page of a webhook names the source of deliveries', async () => {
  const id = await created();
  const page = await ask(`/console/webhooks/${id}`);
  expect(page.text).toContain('<dt>Source addresses</dt><dd>203.0.113.0/28</dd>');
  expect(page.text).toContain('<dt>User-Agent</dt><dd>Waybill/test</dd>');
});

test.each([true, false])(
  'an outdated form does not undo an activation or deactivation (active: %s)',
  async (active) => {
    const id = await created({ active: !active });
    const form = sent((await ask(`/console/webhooks/${id}/edit`)).text);
    await api.shop('PUT', `/v21/webhooks/${id}/${active ? 'activate' : 'deactivate'}`);
    expect(await save(id, form)).toEqual({ ...full, active });
  },
);

test('a deactivation while the form is being saved is not undone', async () => {
  const id = await created({ active: true });
  const form = sent((await ask(`/console/webhooks/${id}/edit`)).text);
  const { saved } = await api.sql.begin(async (tx) => {
    await tx`select from webhooks where id = ${id} for update`;
    const saved = save(id, form);
    await until('the form waits for the webhook', async () => {
      const waiting = await api.sql`
        select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
      return waiting.length > 0;
    });
    await tx`update webhooks set active = false where id = ${id}`;
    return { saved };
  });
  expect(await saved).toEqual({ ...full, active: false });
});

test('static headers are typed one per line, kept if unchanged, and never shown', async () => {
  const headers = { 'X-Gateway-Key': 'the key: of the gateway', 'X-More': 'b' };
  const id = await created();
  const form = sent((await ask(`/console/webhooks/${id}/edit`)).text);
  expect(form.headers).toBe('');
  await save(id, { ...form, headers: 'X-Gateway-Key: the key: of the gateway\r\n\r\n x-More:b\r\n' });
  const shown = { 'X-Gateway-Key': '•••', 'x-More': '•••' };
  const read = async () => (await api.shop('GET', `/v21/webhooks/${id}`)).data.headers;
  expect(await read()).toEqual(shown);
  const edit = await ask(`/console/webhooks/${id}/edit`);
  expect(sent(edit.text).headers).toBe('X-Gateway-Key: •••\r\nx-More: •••');
  const page = await ask(`/console/webhooks/${id}`);
  expect(page.text).toContain('X-Gateway-Key, x-More');
  expect(edit.text + page.text).not.toContain(headers['X-Gateway-Key']);
  await save(id, sent(edit.text));
  expect(await read()).toEqual(shown);
  const refused = await send(`/console/webhooks/${id}/edit`, { ...sent(edit.text), headers: 'X-New' });
  expect(plain(refused.text)).toContain('“X-New” has no colon: a header is a name, a colon and a value.');
  await save(id, { ...sent(edit.text), headers: '' });
  expect(await read()).toBeNull();
});

test('a chosen secret is accepted at creation and at regeneration', async () => {
  const page = sent((await ask('/console/webhooks/new')).text);
  const typed = { ...page, url: full.url, webhookType: 'UPDATE_ORDER' };
  const own = 'the "secret" that our <receiver> knows';
  const refused = await send('/console/webhooks', { ...typed, secret: 'too short' });
  expect(refused.text).toContain('id="secret-problem">Must be 24 to 256 characters long');
  const made = await send('/console/webhooks', { ...typed, secret: own });
  expect(plain(made.text)).toContain(own);
  const id = idOf(made.text);
  const rotate = sent((await ask(`/console/webhooks/${id}/rotate`)).text);
  const short = await send(`/console/webhooks/${id}/rotate`, { ...rotate, secret: 'too short' });
  expect(short.text).toContain('id="secret-problem">Must be 24 to 256 characters long');
  expect(sent(short.text).secret).toBe('too short');
  const regenerated = await send(`/console/webhooks/${id}/rotate`, { ...rotate, secret: `${own}!` });
  expect(plain(regenerated.text)).toContain(`${own}!`);
  expect(plain(regenerated.text)).toContain('The previous secret is also used for signing until');
  const again = sent((await ask(`/console/webhooks/${id}/rotate`)).text);
  const atOnce = await send(`/console/webhooks/${id}/rotate`, { ...again, atOnce: 'true' });
  expect(plain(atOnce.text)).not.toContain('The previous secret');
});

test('fields accept as much as the API, and too long a text comes back with its error', async () => {
  const page = await ask('/console/webhooks/new');
  expect(page.text).not.toContain('maxlength');
  const typed = { ...sent(page.text), url: full.url, webhookType: 'UPDATE_ORDER' };
  const made = await send('/console/webhooks', { ...typed, description: '😀'.repeat(1000) });
  expect(made.text).toContain('The webhook was created.');
  const tooLong = '😀'.repeat(1001);
  const refused = await send('/console/webhooks', { ...typed, description: tooLong });
  expect(refused.text).toContain('id="description-problem">Must have at most 1000 characters.');
  expect(sent(refused.text)).toMatchObject({ url: full.url, description: tooLong });
});

test('all problems are shown at once, each at its field; v21 is preselected', async () => {
  const page = await ask('/console/webhooks/new');
  expect(sent(page.text).payloadVersion).toBe('v21');
  expect(page.text).toContain('v2 is for receivers that were written for it.');
  const wrong = {
    url: 'shop.example',
    headers: 'X-New',
    withPackingLists: 'true',
    secret: 'short',
  };
  const refused = await send('/console/webhooks', {
    ...sent(page.text),
    webhookType: 'CREATE_ORDER',
    ...wrong,
  });
  expect(refused.status).toBe(400);
  const text = plain(refused.text);
  expect(text).toContain('Check the 4 marked fields.');
  for (const problem of [
    'id="url-problem">Must be an absolute http: or https: URL.',
    'id="headers-problem">“X-New” has no colon: a header is a name, a colon and a value.',
    'id="secret-problem">Must be 24 to 256 characters long',
    'id="withPackingLists-problem">',
  ])
    expect(text).toContain(problem);
  expect(text).toMatch(/<input id="url"[^>]* aria-describedby="url-problem url-hint" aria-invalid="true"/);
});

test('all order events can be chosen in one step, even without scripts', async () => {
  const page = sent((await ask('/console/webhooks/new?about=orders')).text);
  const made = await send('/console/webhooks', { ...page, url: full.url });
  const id = idOf(made.text);
  const read = async () => (await api.shop('GET', `/v21/webhooks/${id}`)).data;
  expect(await read()).toMatchObject({
    webhookType: 'CREATE_ORDER',
    additionalTypes: ['UPDATE_ORDER', 'UPDATE_ORDER_STATUS'],
  });
  const edited = sent((await ask(`/console/webhooks/${id}/edit`)).text);
  const { also_UPDATE_ORDER: _, ...without } = edited;
  await save(id, { ...without, also_CREATE_RETURN: 'true' });
  expect((await read()).additionalTypes).toEqual(['UPDATE_ORDER_STATUS', 'CREATE_RETURN']);
  const other = sent((await ask('/console/webhooks/new?about=nothing')).text);
  expect(Object.keys(other).filter((name) => name.startsWith('also_'))).toEqual([]);
});

test('the page of a webhook can pause and resume it, and shows the pause and refusals', async () => {
  const id = await created({ active: true });
  const read = async () => (await api.shop('GET', `/v21/webhooks/${id}`)).data.pausedUntil;
  const form = await ask(`/console/webhooks/${id}/pause`);
  expect(sent(form.text)).toMatchObject({ until: '' });
  const until = new Date(Date.now() + 7_200_000).toISOString().slice(0, 16);
  const paused = await send(`/console/webhooks/${id}/pause`, { until });
  expect(await read()).toBe(`${until}:00.000Z`);
  expect(paused.text).toContain('Paused until');
  expect(paused.text).toContain(`/console/webhooks/${id}/resume`);
  expect(sent((await ask(`/console/webhooks/${id}/pause`)).text)).toMatchObject({ until });
  // Saved unchanged, it must not end the pause earlier.
  await api.shop('PUT', `/v21/webhooks/${id}/pause`, { until: `${until}:00.001Z` });
  const next = new Date(Date.parse(`${until}Z`) + 60_000).toISOString().slice(0, 16);
  expect(sent((await ask(`/console/webhooks/${id}/pause`)).text)).toMatchObject({ until: next });
  const refused = await send(`/console/webhooks/${id}/pause`, { until: '2020-01-01T00:00' });
  expect(refused.text).toContain('id="until-problem">Must be in the future');
  const resumed = await send(`/console/webhooks/${id}/resume`, {});
  expect(await read()).toBeNull();
  expect(resumed.text).not.toContain('Paused until');
});

test('the page of an asymmetric webhook shows the public keys, and makes the next one', async () => {
  const id = await created();
  const other = await created({ asymmetric: false });
  const [first] = (await api.shop('GET', '/v21/eshop/signing-keys')).data;
  expect((await ask(`/console/webhooks/${other}`)).text).not.toContain('whpk_');
  expect((await ask(`/console/webhooks/${id}`)).text).toContain(first.publicKey);
  const { status, text } = await send(`/console/webhooks/${id}/next-key`, {});
  expect(status).toBe(303);
  const [second] = (await api.shop('GET', '/v21/eshop/signing-keys')).data;
  expect(second.kid).not.toBe(first.kid);
  for (const { publicKey } of [first, second]) expect(text).toContain(publicKey);
  expect(text).not.toContain('Make the next key');
  // Two sign: there is no third.
  expect((await send(`/console/webhooks/${id}/next-key`, {})).status).toBe(409);
});
