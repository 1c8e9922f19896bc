/** `waybill listen` and `waybill trigger`: the real program as a receiver of real deliveries. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { receiver as kitReceiver, memoryStore } from '../../receiver/src/index.ts';
import { entryOf, idOf, sampleOf } from '../../src/domain/catalogue.ts';
import { eventTypeNames } from '../../src/domain/event-types.ts';
import { receiverOfFile, stackOfFile } from '../support/lifetimes.ts';
import { builtCli } from '../support/programs/built.ts';
import { runWaybill } from '../support/programs/waybill-command.ts';
import { freePort } from '../support/servers/ports.ts';

const running = new Set<ChildProcess>();

const stack = await stackOfFile('listen', { policy: { initialIntervalMs: 60_000 } });
const receiver = await receiverOfFile();
const eshop: string = String(stack.eshopId);
const env: Record<string, string> = {
  DATABASE_URL: stack.database.url,
  SECRET_KEY: Buffer.alloc(32, 7).toString('base64'),
  DELIVERY_ALLOW_CIDRS: '127.0.0.0/8',
  DATA_DIR: 'nowhere',
};
beforeEach(async () => {
  await stack.retireWebhooks();
  receiver.clear();
  receiver.respond({});
});
afterEach(() => {
  for (const child of running) child.kill('SIGKILL');
});

/** The program, once it listens. */
async function listen(...args: string[]) {
  const child = spawn(process.execPath, [builtCli, 'listen', '--eshop', eshop, '--json', ...args], {
    env: { PATH: process.env.PATH ?? '', ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  running.add(child);
  const ended = once(child, 'exit').then(([code]) => {
    running.delete(child);
    return code;
  });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const next = async () => JSON.parse((await lines.next()).value ?? '{"ended": true}');
  const first = await next();
  return {
    url: first.url,
    secret: first.secret,
    webhook: first.webhook,
    next,
    end: (signal: NodeJS.Signals = 'SIGINT') => {
      child.kill(signal);
      return ended;
    },
  };
}
const trigger = async (type: string) =>
  JSON.parse(await runWaybill(['trigger', type, '--eshop', eshop, '--json'], env));
const webhookCount = async () => JSON.parse(await runWaybill(['webhooks', 'list', '--json'], env)).length;

describe('listen', () => {
  it('receives every event type, verified, and deletes its webhook on Ctrl-C', async () => {
    const program = await listen();
    expect(program.webhook.types).toEqual(eventTypeNames);
    expect(await webhookCount()).toBe(1);
    for (const type of eventTypeNames) {
      const { entityId, deliveries } = await trigger(type);
      const heard = await program.next();
      expect(heard).toMatchObject({
        // Known from v3 alone.
        delivery: { id: deliveries[0].id, kind: type, entityId, attempt: 1, test: true, origin: 'service' },
        problem: null,
        status: 200,
      });
      await stack.untilState(deliveries[0].id, 'delivered');
    }
    const real = await stack.fireOne('10001');
    expect(await program.next()).toMatchObject({ delivery: { id: real, entityId: '10001', test: false } });
    expect(await program.end()).toBe(0);
    expect(await webhookCount()).toBe(0);
  });

  it('forwards each request and returns the response', async () => {
    const program = await listen('--types', 'CREATE_ORDER', '--forward-to', `${receiver.url}/hooks?of=`);
    receiver.respond({ status: 503, headers: { 'retry-after': '7' }, body: 'later' });
    const id = await stack.fireOne('10002');
    const [request] = await receiver.waitFor(1);
    expect(request).toMatchObject({ method: 'POST', path: '/hooks?of=' });
    expect(await program.next()).toMatchObject({ delivery: { id }, status: 503, problem: null });
    const { lastError } = await stack.untilState(id, 'retrying');
    expect(lastError).toMatch(/^HTTP 503 /);
    const [attempt] = await stack.sql<{ responseExcerpt: string }[]>`
      select response_excerpt from attempts where delivery_id = ${id}`;
    expect(attempt?.responseExcerpt).toBe('later');
    expect(await program.end('SIGTERM')).toBe(0);
  });

  it('a forwarded request, also by GET, verifies with the kit and the given --secret', async () => {
    const secret = 'whsec_dGVzdHMgb25seTogdGhpcyBpcyBub3QgYSBzZWNyZXQ=';
    const port = receiver.port;
    const program = await listen(
      ...['--types', 'CREATE_ORDER', '--method', 'GET', '--secret', secret],
      ...['--forward-to', `http://127.0.0.1:${port}/hooks/`],
    );
    await stack.fireOne('ä/1');
    const [request] = await receiver.waitFor(1);
    expect(request?.path).toBe('/hooks/%C3%A4%2F1');
    expect(await program.next()).toMatchObject({ delivery: { entityId: 'ä/1' }, status: 200 });
    const handled: string[] = [];
    const hooks = kitReceiver({ secrets: secret, store: memoryStore(), read: async () => '{}' }).on(
      'CREATE_ORDER',
      (_, { entityId }) => void handled.push(entityId ?? ''),
    );
    const headers = Object.entries(request?.headers ?? {}).map(([name, value]): [string, string] => [
      name,
      String(value),
    ]);
    const again = await hooks(new Request(`http://shop.example${request?.path}`, { headers }));
    expect(again.status).toBe(200);
    expect(handled).toEqual(['ä/1']);
    await program.end();
  });

  it('reports that the program behind it is unavailable', async () => {
    const nobody = `http://127.0.0.1:${await freePort()}`;
    const program = await listen('--types', 'CREATE_ORDER', '--forward-to', nobody);
    await stack.fireOne('10003');
    expect(await program.next()).toMatchObject({
      status: 502,
      problem: `${nobody} cannot be reached (ECONNREFUSED).`,
    });
    await program.end();
  });

  it('refuses an unsigned request and says why', async () => {
    const program = await listen('--types', 'CREATE_ORDER');
    const answer = await fetch(program.url, { method: 'POST', body: '{}' });
    expect(answer.status).toBe(401);
    const { delivery, problem } = await program.next();
    expect(delivery).toBeNull();
    expect(await answer.text()).toBe(`${problem}\n`);
    await program.end();
  });

  it('the next listener removes the webhook that a killed one left behind', async () => {
    await (await listen('--type', 'CREATE_ORDER')).end('SIGKILL');
    expect(await webhookCount()).toBe(1);
    const next = await listen('--types', 'CREATE_PRODUCT');
    expect(await webhookCount()).toBe(1);
    const other = await listen('--types', 'CREATE_RETURN');
    expect(await webhookCount()).toBe(2);
    await next.end();
    await other.end();
    expect(await webhookCount()).toBe(0);
  });

  it('reports in one sentence why it cannot listen, and leaves nothing behind', async () => {
    const wrong = (args: string[], more: Record<string, string> = {}) =>
      expect(runWaybill(['listen', '--eshop', eshop, ...args], { ...env, ...more })).rejects;
    await wrong([], { DELIVERY_ALLOW_CIDRS: '' }).toThrow(
      /^Deliveries to this machine are refused \(a URL must not lead to 127\.0\.0\.1, which .*DELIVERY_ALLOW_CIDRS=127\.0\.0\.0\/8\.$/,
    );
    await wrong(['--port', String(receiver.port)]).toThrow(/^Cannot listen on port \d+ of 127\.0\.0\.1:/);
    await wrong(['--types', 'ORDER']).toThrow('--types must be event types');
    await wrong(['--forward-to', 'localhost:3000']).toThrow('--forward-to must be an absolute http');
    await wrong(['--secret', 'mine']).toThrow('--secret neither begins with whsec_ nor');
    await wrong([], { SECRET_KEY: '' }).toThrow('SECRET_KEY must not be empty');
    await runWaybill(['contract', 'set', '--eshop', eshop, '--max-webhooks', '0'], env);
    await wrong([]).toThrow(`The contract of e-shop ${eshop} allows at most 0 webhooks: delete one first.`);
    await runWaybill(['contract', 'set', '--eshop', eshop, '--max-webhooks', '100'], env);
    await expect(runWaybill(['listen', '--eshop', '7'], env)).rejects.toThrow('E-shop 7 does not exist.');
    expect(await webhookCount()).toBe(0);
  });
});

describe('trigger', () => {
  it('sends the sample as a real delivery, marked as a test, under its own identifier', async () => {
    const { id } = await stack.createWebhook(receiver.url, { type: 'UPDATE_ORDER' });
    await stack.createWebhook(receiver.url, { type: 'UPDATE_ORDER', active: false });
    const { eventId, entityId, deliveries } = await trigger('UPDATE_ORDER');
    expect(deliveries).toMatchObject([{ webhookId: id }]);
    const [request] = await receiver.waitFor(1);
    expect(request?.headers).toMatchObject({
      'x-service-test': 'true',
      'x-service-delivery': deliveries[0].id,
    });
    const sample = sampleOf('UPDATE_ORDER');
    expect(entityId).toMatch(/^TEST-[0-9A-Z]+$/);
    expect(entityId).not.toBe(idOf(entryOf('UPDATE_ORDER'), sample));
    expect(JSON.parse(request?.text ?? '')).toMatchObject({ eshopOrderId: entityId, status: 'packed' });
    await stack.untilState(deliveries[0].id, 'delivered');
    const [event] = await stack.sql`select test from events where id = ${eventId}`;
    expect(event?.test).toBe(true);
  });

  it('writes nothing without an active webhook of the type', async () => {
    await stack.createWebhook(receiver.url, { type: 'UPDATE_ORDER' });
    const count = async () => (await stack.sql`select count(*) from events`)[0]?.count;
    const before = await count();
    await expect(trigger('CREATE_ORDER')).rejects.toThrow(
      `E-shop ${eshop} has no active webhook of the type CREATE_ORDER: nothing was triggered.`,
    );
    await expect(trigger('ORDER')).rejects.toThrow('<type> must be an event type');
    await expect(runWaybill(['trigger', 'CREATE_ORDER', '--eshop', '7'], env)).rejects.toThrow(
      'E-shop 7 does not exist.',
    );
    expect(await count()).toBe(before);
  });
});
