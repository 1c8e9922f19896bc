/** A receiver as a separate process, to be killed: `shop.ts <database> hangs|works`. */
import { createServer } from 'node:http';
import postgres from 'postgres';
import { postgresStore } from '../../receiver/examples/postgres-store.ts';
import { receiver } from '../../receiver/src/index.ts';
import { nodeListener } from '../../receiver/src/node.ts';
import { testSecret } from '../../receiver/src/testing.ts';

const [database = '', mode = ''] = process.argv.slice(2);
const store = postgresStore(postgres(database, { max: 1 }));
const hooks = receiver({ secrets: testSecret, store, leaseMs: 3_000, onProblem: () => {} }).on(
  'CREATE_ORDER',
  async ({ eshopOrderId }) => {
    console.log(`begun ${eshopOrderId}`);
    if (mode === 'hangs') await new Promise(() => {});
  },
);
const answer = nodeListener(hooks);
const server = createServer((incoming, outgoing) => void answer(incoming, outgoing));
server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  if (address !== null && typeof address === 'object')
    console.log(`listening at http://127.0.0.1:${address.port}/`);
});
