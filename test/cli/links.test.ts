/** `waybill links`: at a real server every query finds the answers to its question, and nothing else. */
import { randomInt, randomUUID } from 'node:crypto';
import type { Client } from '@temporalio/client';
import { type SearchAttributePair, TypedSearchAttributes } from '@temporalio/common';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { openDataDir } from '../../src/embedded/data-dir.ts';
import {
  deliveryStateKey,
  entityIdKey,
  receiverHostKey,
  webhookIdKey,
} from '../../workflows/search-attributes.ts';
import { folderOfTest } from '../support/ends.ts';
import { runWaybill } from '../support/programs/waybill-command.ts';
import { pauseWorkflow } from '../support/temporal/pause.ts';
import { withTemporal } from '../support/temporal/workflows.ts';
import { until } from '../support/until.ts';

interface Link {
  readonly name: string;
  readonly query: string;
  readonly url: string | null;
}
const UI = { TEMPORAL_UI_URL: 'https://temporal.example/ui/' };
const links = async (args: readonly string[], env: Record<string, string> = UI): Promise<Link[]> =>
  JSON.parse(await runWaybill(['links', '--json', ...args], env));

describe('against a server', () => {
  const webhookId = randomInt(1_000_000, 100_000_000);
  const otherWebhookId = webhookId + 1;
  const order = `it's order 10-001/ä %_* (${randomUUID()})`;
  const taskQueue = `links-${randomUUID()}`;
  const state = (value: string): SearchAttributePair => ({ key: deliveryStateKey, value });
  const webhook = (value: number): SearchAttributePair => ({ key: webhookIdKey, value });
  const receiverHost = `shop-${randomUUID()}.example`;
  const host = (value: string): SearchAttributePair => ({ key: receiverHostKey, value });
  const started = {
    failing: [
      webhook(webhookId),
      state('retrying'),
      host(receiverHost),
      { key: entityIdKey, value: 'another' },
    ],
    held: [webhook(otherWebhookId), state('held')],
    ofOrder: [webhook(otherWebhookId), { key: entityIdKey, value: order }],
    ended: [webhook(webhookId), state('retrying')],
    atPort: [host(`${receiverHost}:8443`)],
    paused: [webhook(webhookId), state('retrying')],
    elsewhere: [webhook(otherWebhookId + 1), host(`other.${receiverHost}`)],
  } satisfies Record<string, SearchAttributePair[]>;
  type Name = keyof typeof started;
  const names = Object.keys(started) as Name[];
  const workflowId = (name: Name) => `${taskQueue}/${name}`;

  /** The names of the workflows that a query finds. */
  async function found(client: Client, query: string): Promise<string[]> {
    const ids: string[] = [];
    for await (const { workflowId: id } of client.workflow.list({
      query: `(${query}) AND TaskQueue = "${taskQueue}"`,
    })) {
      ids.push(id.slice(taskQueue.length + 1));
    }
    return ids.sort();
  }

  beforeAll(() =>
    withTemporal(inject('temporalAddress'), async (client) => {
      for (const name of names) {
        const handle = await client.workflow.start('nobodyRunsThis', {
          taskQueue,
          workflowId: workflowId(name),
          typedSearchAttributes: new TypedSearchAttributes(started[name]),
        });
        if (name === 'ended') await handle.terminate();
        if (name === 'paused') await pauseWorkflow(client, handle.workflowId);
      }
      const listed = async () =>
        (await found(client, 'ExecutionStatus = "Running"')).length === names.length - 2 &&
        (await found(client, 'ExecutionStatus = "Paused"')).length === 1 &&
        (await found(client, 'ExecutionStatus = "Terminated"')).length === 1;
      await until('all are in the list', listed);
    }),
  );
  afterAll(() =>
    withTemporal(inject('temporalAddress'), async ({ workflow }) => {
      for (const name of names)
        await workflow
          .getHandle(workflowId(name))
          .terminate()
          .catch(() => {});
    }),
  );

  it('each query finds exactly the workflows it asks for', async () => {
    const all = await links(['--webhook', String(webhookId), '--order', order]);
    const answers = await withTemporal(inject('temporalAddress'), async (client) => {
      const pairs: [string, string[]][] = [];
      for (const { name, query } of all) pairs.push([name, await found(client, query)]);
      return Object.fromEntries(pairs);
    });
    expect(answers).toEqual({
      failing: ['failing'],
      webhook: ['failing'],
      order: ['ofOrder'],
      // The receiver in the example is not a real one.
      receiver: [],
      held: ['held'],
      paused: ['paused'],
    });
  });

  it('a receiver is a host: any port matches unless one is named', async () => {
    const foundAt = async (host: string) => {
      const query = (await links(['--receiver', host])).find(({ name }) => name === 'receiver')?.query ?? '';
      return await withTemporal(inject('temporalAddress'), (client) => found(client, query));
    };
    expect(await foundAt(receiverHost)).toEqual(['atPort', 'failing']);
    expect(await foundAt(receiverHost.toUpperCase())).toEqual(['atPort', 'failing']);
    expect(await foundAt(`${receiverHost}:8443`)).toEqual(['atPort']);
    expect(await foundAt(`${receiverHost}:84`)).toEqual([]);
  });
});

describe('the links', () => {
  it('lead to the configured UI, with the query', async () => {
    const env = { ...UI, TEMPORAL_NAMESPACE: 'shop.a1b2c' };
    for (const { query, url } of await links([], env)) {
      const { origin, pathname, searchParams } = new URL(url ?? '');
      expect(`${origin}${pathname}`).toBe('https://temporal.example/ui/namespaces/shop.a1b2c/workflows');
      expect(searchParams.get('query')).toBe(query);
      expect(url).not.toMatch(/[+()]/);
    }
  });

  it('lead to the UI of the instance in DATA_DIR, unless TEMPORAL_ADDRESS names another server', async () => {
    const directory = await folderOfTest('waybill-links-');
    const instance = await openDataDir(directory);
    await instance.writeInstance({ temporalUiUrl: 'http://127.0.0.1:8234' });
    const [own] = await links([], { DATA_DIR: directory });
    expect(own?.url).toMatch(/^http:\/\/127\.0\.0\.1:8234\/namespaces\/default\/workflows\?query=/);
    const [another] = await links([], { DATA_DIR: directory, TEMPORAL_ADDRESS: 'temporal.example:7233' });
    expect(another?.url).toBeNull();
  });

  it('are printed under their questions; without a UI, the queries and the missing setting are', async () => {
    const text = await runWaybill(['links', '--webhook', '3'], UI);
    expect(text).toContain(
      'What is under way to webhook 3?\n  ExecutionStatus = "Running" AND WebhookId = 3\n  https://temporal.example/ui/',
    );
    expect(text).toContain('The links use examples for options that you did not give: --order, --receiver.');
    const without = await runWaybill(['links'], { TEMPORAL_ADDRESS: 'temporal.example:7233' });
    expect(without).toContain("To get links, set TEMPORAL_UI_URL to the address of Temporal's UI.");
    expect(without).not.toContain('http');
  });

  it('mistakes are reported in one sentence', async () => {
    await expect(links(['--receiver', 'https://shop.example'])).rejects.toThrow(
      '--receiver must be a host such as shop.example',
    );
    await expect(links(['--webhook', '0'])).rejects.toThrow('--webhook must be the number of a webhook.');
    for (const order of ['', 'a "quoted" one', 'back\\slash']) {
      await expect(links(['--order', order])).rejects.toThrow('--order must not contain quotation marks');
    }
  });
});
