/** A namespace loses its search attributes while a worker runs, as when it is recreated. */
import { Connection } from '@temporalio/client';
import { expect, test } from 'vitest';
import { startTemporal } from '../../src/embedded/temporal.ts';
import { findTemporal } from '../../src/embedded/temporal-binary.ts';
import { searchAttributeTypes } from '../../src/temporal/search-attributes.ts';
import { receiverOfTest, stackOfTest } from '../support/lifetimes.ts';
import { until } from '../support/until.ts';

test('a running worker registers lost search attributes again, and deliveries start', async ({
  onTestFinished,
}) => {
  const temporal = await startTemporal({ binary: await findTemporal({ report: () => {} }), ui: false });
  onTestFinished(() => temporal.stop());
  const stack = await stackOfTest('attributes', {
    temporalAddress: temporal.address,
    timings: { lookMs: 100 },
  });
  const receiver = await receiverOfTest({ status: 200 });
  await stack.createWebhook(receiver.url);
  const connection = await Connection.connect({ address: temporal.address });
  onTestFinished(() => connection.close());
  const names = Object.keys(searchAttributeTypes);
  const known = async () => {
    const { customAttributes } = await connection.operatorService.listSearchAttributes({
      namespace: 'default',
    });
    return names.filter((name) => name in customAttributes);
  };

  await until('the first registration', async () => (await known()).length === names.length);
  await connection.operatorService.removeSearchAttributes({ namespace: 'default', searchAttributes: names });
  await until('the next registration', async () => (await known()).length === names.length);
  const id = await stack.fireOne('10001');
  await receiver.waitFor(1);
  expect(receiver.requests[0]?.headers['x-service-delivery']).toBe(id);
});
