/** How a day is played: in order, in parallel, at a limited rate, and only up to the first error. */
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import type { ApiRequest, Client } from '../../demo/client.ts';
import { playDay } from '../../demo/runner.ts';
import { type Phase, type Step, shop, warehouse } from '../../demo/steps.ts';

/** An API that records its requests, and answers a moment later. */
function recorder(answer: (request: ApiRequest) => unknown = () => null) {
  const asked: string[] = [];
  let underWay = 0;
  const client: Client = {
    async send(request) {
      asked.push(request.path);
      underWay += 1;
      await sleep(2);
      underWay -= 1;
      return { message: 'Done.', data: answer(request) };
    },
  };
  return { client, asked, underWay: () => underWay };
}
const call = (path: string) => shop('POST', path, {});
const phase = (...stories: Step[][]): Phase => ({ title: 'A phase', stories });
const pace = (rate = 1_000, signal = new AbortController().signal) => ({ rate, signal, onStep: () => {} });

describe('playDay', () => {
  it('keeps the order of a story, and ends a phase before the next', async () => {
    const { client, asked } = recorder();
    const sent = await playDay(
      client,
      [phase([call('/a1'), call('/a2')], [call('/b1'), call('/b2')]), phase([warehouse('PUT', '/c', {})])],
      pace(),
    );
    expect(sent).toBe(5);
    expect(asked.indexOf('/v21/a1')).toBeLessThan(asked.indexOf('/v21/a2'));
    expect(asked.indexOf('/v21/b1')).toBeLessThan(asked.indexOf('/v21/b2'));
    expect(asked.at(-1)).toBe('/v21/warehouse/c');
  });

  it('waits for what happens by itself', async () => {
    const statuses = ['preOrder', 'preOrder', 'preReceived'];
    const { client, asked } = recorder(() => ({ status: statuses.shift() }));
    const wait = { path: '/orders/1', untilStatus: 'preReceived', fires: [] };
    expect(await playDay(client, [phase([wait])], pace())).toBe(3);
    expect(asked).toEqual(Array(3).fill('/v21/orders/1'));
  });

  describe('while what happens by itself does not happen', () => {
    const wait = { path: '/orders/1', untilStatus: 'preReceived', fires: [] };
    /** The status changes after this many checks. */
    const late = (after: number) => {
      const left = Array.from({ length: Math.min(after, 1_000) }, () => 'preOrder');
      return recorder(() => ({ status: left.shift() ?? 'preReceived' }));
    };
    /** Answers one more each time, up to `most`. */
    const counter = (most: number) => {
      const counts = Array.from({ length: most }, (_, index) => index + 1);
      return async () => counts.shift() ?? most;
    };

    it.each([
      [
        'there is no worker',
        0,
        /^\/orders\/1 is preOrder and not preReceived after \d+ s: is a worker running\?$/,
      ],
      ['the worker has stopped', 2, /, and no more deliveries arrive: is a worker running\?$/],
    ])('gives up: %s', async (_what, most, message) => {
      const { client } = late(Number.POSITIVE_INFINITY);
      const how = { ...pace(), come: counter(most), giveUpAfterMs: 1 };
      await expect(playDay(client, [phase([wait])], how)).rejects.toThrow(message);
    });

    it('goes on while deliveries come: there is a backlog', async () => {
      const { client } = late(4);
      const how = { ...pace(), come: counter(9), giveUpAfterMs: 1 };
      expect(await playDay(client, [phase([wait])], how)).toBe(5);
    });
  });

  it('ends at the first error, with it, and with nothing under way', async () => {
    const { client, asked, underWay } = recorder(({ path }) => {
      if (path === '/v21/bad') throw new Error('refused');
      return null;
    });
    const long = Array.from({ length: 200 }, (_, at) => call(`/long/${at}`));
    await expect(
      playDay(client, [phase(long, [call('/bad')]), phase([call('/later')])], pace()),
    ).rejects.toThrow('refused');
    expect(underWay()).toBe(0);
    const count = asked.length;
    await sleep(20);
    expect(asked).toHaveLength(count);
    expect(count).toBeLessThan(100);
    expect(asked).not.toContain('/v21/later');
  });

  it('ends when it is told to, with the reason', async () => {
    const controller = new AbortController();
    const { client } = recorder(() => controller.abort(new Error('Stopped.')));
    const story = Array.from({ length: 50 }, (_, at) => call(`/${at}`));
    await expect(playDay(client, [phase(story)], pace(1_000, controller.signal))).rejects.toThrow('Stopped.');
  });
});
