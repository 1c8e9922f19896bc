/** The kit's use of the API: one login, another when the token has expired, and waits when told to. */
import { describe, expect, it, vi } from 'vitest';
import { ApiError, waybill } from '../../receiver/src/index.ts';

const json = (body: object, init: ResponseInit = {}) => new Response(JSON.stringify(body), init);
const list = { message: 'Deliveries found.', data: [], cursor: { after: 'x', more: false } };

/** Answers from a list, one after another; each login gets a new token. */
function setUp(answers: (() => Response)[], options: { readonly url?: string } = {}) {
  const requests: string[] = [];
  let logins = 0;
  const send: typeof fetch = async (input, init) => {
    const headers = new Headers(init?.headers);
    requests.push(`${init?.method ?? 'GET'} ${String(input)} ${headers.get('authorization') ?? '-'}`);
    if (headers.get('x-api-key') !== 'wb_key') throw new Error('no key');
    if (String(input).endsWith('/login')) {
      logins += 1;
      return json({ message: 'Logged in.', data: { token: `t${logins}` } });
    }
    return answers.shift()?.() ?? json(list);
  };
  const credentials = { apiKey: 'wb_key', username: 'shop', password: 'secret' };
  const url = options.url ?? 'https://w.example/v21/';
  return { api: waybill({ url, ...credentials, fetch: send }), requests };
}

describe('the API client', () => {
  it.each(['url', 'apiKey', 'username', 'password'])('an empty %s is named before any request', (name) => {
    const options = { url: 'https://w.example', apiKey: 'wb_key', username: 'shop', password: 'secret' };
    const problem = `${name} is empty: is the variable it comes from set?`;
    expect(() => waybill({ ...options, [name]: '' })).toThrow(new TypeError(problem));
    expect(() => waybill({ ...options, [name]: undefined })).toThrow(new TypeError(problem));
  });

  it('simultaneous calls share one login', async () => {
    const { api, requests } = setUp([]);
    await Promise.all([api.deliveries('a'), api.deliveries('b', { since: new Date(0) })]);
    expect(requests.sort()).toEqual([
      'GET https://w.example/v21/deliveries?after=a&items=100 Bearer t1',
      'GET https://w.example/v21/deliveries?after=b&items=100&since=1970-01-01T00%3A00%3A00.000Z Bearer t1',
      'POST https://w.example/v21/users/login -',
    ]);
  });

  it('an expired token leads to a new login, once', async () => {
    const unauthorized = () => json({ message: 'The token has expired.' }, { status: 401 });
    const { api, requests } = setUp([unauthorized]);
    await api.deliveries('a');
    expect(requests.at(-1)).toContain('Bearer t2');
    const refused = setUp([unauthorized, unauthorized]);
    await expect(refused.api.deliveries('a')).rejects.toThrow('401 The token has expired.');
  });

  it('a 429 is waited out as its Retry-After says', async () => {
    vi.useFakeTimers();
    try {
      const { api, requests } = setUp([() => json({}, { status: 429, headers: { 'retry-after': '7' } })]);
      const answer = api.deliveries('a');
      await vi.advanceTimersByTimeAsync(6_900);
      expect(requests).toHaveLength(2);
      await vi.advanceTimersByTimeAsync(200);
      expect((await answer).cursor.after).toBe('x');
    } finally {
      vi.useRealTimers();
    }
  });

  it('a refusal is reported in the words of the API', async () => {
    const { api } = setUp([() => json({ message: 'after: must be a UUID' }, { status: 400 })]);
    const error = await api.deliveries('a').catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(ApiError);
    expect(String(error)).toContain('400 after: must be a UUID');
    const proxy = setUp([() => new Response('<html>', { status: 502 })]);
    await expect(proxy.api.deliveries('a')).rejects.toThrow('502 is not a response from Waybill');
  });

  it('the payload of a POST, of a GET and of a missing delivery are told apart', async () => {
    const post = { message: '', data: { a: '1' }, request: { method: 'POST' } };
    const get = { message: '', data: null, request: { method: 'GET' } };
    const { api } = setUp([
      () => json(post),
      () => json(get),
      () => json({ message: 'Delivery x does not exist.' }, { status: 404 }),
    ]);
    expect(await api.payload('p')).toEqual({ method: 'POST', body: '{"a":"1"}' });
    expect(await api.payload('g')).toEqual({ method: 'GET', body: null });
    expect(await api.payload('x')).toBeNull();
  });

  it('the record of a kind is read, whatever its identifier', async () => {
    const { api, requests } = setUp([() => json({ message: '', data: { eshopReturnId: 'a/b' } })], {
      url: 'https://w.example',
    });
    const delivery = { kind: 'UPDATE_RETURN_STATUS', entityId: 'a/b' };
    expect(await api.read(delivery)).toEqual({ eshopReturnId: 'a/b' });
    expect(requests.at(-1)).toBe('GET https://w.example/v2/returns/a%2Fb Bearer t1');
    await expect(api.read({ ...delivery, kind: 'NEW_KIND' })).rejects.toThrow('not a known kind');
  });
});
