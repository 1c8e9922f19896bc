/** A receiver with nothing but Node.js. Port and secret come from the environment. */
import { createServer } from 'node:http';
import { memoryStore, receiver } from '@waybill-hq/receiver';
import { nodeListener } from '@waybill-hq/receiver/node';

const { WEBHOOK_SECRET = '', PORT = '9000' } = process.env;

const hooks = receiver({ secrets: WEBHOOK_SECRET, store: memoryStore() })
  .on('CREATE_ORDER', (order) => console.log(`New order ${order.eshopOrderId} of ${order.recipientName}`))
  .otherwise((_record, { kind, entityId }) => console.log(`${kind} ${entityId}`));

createServer(nodeListener(hooks)).listen(Number(PORT), '127.0.0.1');
