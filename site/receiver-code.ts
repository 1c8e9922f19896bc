/** The code in the documentation for authors of receivers. The tests run it against real signatures. */

/** A receiver with the kit (`receiver/examples/server.ts`). */
export const receiverWithKit = `/** A receiver with nothing but Node.js. Port and secret come from the environment. */
import { createServer } from 'node:http';
import { memoryStore, receiver } from '@waybill-hq/receiver';
import { nodeListener } from '@waybill-hq/receiver/node';

const { WEBHOOK_SECRET = '', PORT = '9000' } = process.env;

const hooks = receiver({ secrets: WEBHOOK_SECRET, store: memoryStore() })
  .on('CREATE_ORDER', (order) => console.log(\`New order \${order.eshopOrderId} of \${order.recipientName}\`))
  .otherwise((_record, { kind, entityId }) => console.log(\`\${kind} \${entityId}\`));

createServer(nodeListener(hooks)).listen(Number(PORT), '127.0.0.1');
`;

/** Verifies `v3` of `X-Service-Signature`, on POST and on GET. An ES module for Node.js. */
export const verifyServiceSignature = `import { createHmac, timingSafeEqual } from 'node:crypto';

/** What stands in "v3", by the names of the headers: an absent one is an empty line. */
const SIGNED = ['delivery', 'event-id', 'event', 'sequence', 'webhook', 'origin', 'changed', 'test'];

/**
 * @param secret  that of the webhook that X-Service-Webhook names, all of it ("whsec_…")
 * @param request as Node has it: method, url (path and query exactly as requested), headers
 * @param body    exactly as received; empty on GET
 */
export function verify(secret, { method, url, headers }, body) {
  const fields = (headers['x-service-signature'] ?? '').split(',').map((field) => field.split('='));
  const t = fields.find(([name]) => name === 't')?.[1];
  if (!(Math.abs(Date.now() / 1000 - Number(t)) <= 300)) return false; // too old
  const lines = [t, ...SIGNED.map((name) => headers['x-service-' + name] ?? ''), method, url, ''];
  const expected = createHmac('sha256', secret).update(lines.join('\\n')).update(body).digest();
  return fields.some(([name, hex]) => {
    const given = Buffer.from(name === 'v3' ? hex : '', 'hex'); // two v3= while a secret is being replaced
    return given.length === expected.length && timingSafeEqual(given, expected);
  });
}
`;

/** Verifies `webhook-signature` of a POST without a library. An ES module for Node.js. */
export const verifyStandardSignature = `import { createHmac, timingSafeEqual } from 'node:crypto';

/** @param headers the request's headers, names in lower case; @param body exactly as received */
export function verify(secret, headers, body) {
  const t = headers['webhook-timestamp'];
  if (!(Math.abs(Date.now() / 1000 - Number(t)) <= 300)) return false; // too old
  const key = Buffer.from(secret.replace('whsec_', ''), 'base64');
  const expected = createHmac('sha256', key).update(headers['webhook-id'] + '.' + t + '.').update(body).digest();
  return headers['webhook-signature'].split(' ').some((signature) => {
    const given = Buffer.from(signature.replace('v1,', ''), 'base64');
    return given.length === expected.length && timingSafeEqual(given, expected);
  });
}
`;

/** The same with the published package. */
export const verifyWithLibrary = `import { Webhook } from 'standardwebhooks'; // npm install standardwebhooks

// Throws when the signature is wrong or old.
const order = new Webhook(secret).verify(body, headers);
`;

/** How to log in and to subscribe from a shell. */
export const loginWithCurl = `# From the operator: the address, an API key, a user name and a password.
WAYBILL_URL=http://127.0.0.1:8080
API_KEY=wb_…

TOKEN=$(curl -s "$WAYBILL_URL/v21/users/login" -H "x-api-key: $API_KEY" -H 'content-type: application/json' \\
  -d '{"username":"…","password":"…"}' | sed 's/.*"token":"\\([^"]*\\)".*/\\1/')

# Subscribe. The response contains the secret: keep it, it is not shown again.
curl -s "$WAYBILL_URL/v21/webhooks" -H "x-api-key: $API_KEY" -H "authorization: Bearer $TOKEN" -H 'content-type: application/json' \\
  -d '{"url":"http://127.0.0.1:9000/hooks","webhookType":"CREATE_ORDER","active":true,"method":"POST","payloadVersion":"v21"}'
`;
