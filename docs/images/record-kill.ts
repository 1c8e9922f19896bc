/**
 * Records kill.svg from a real run: an order is accepted, SIGKILL ends everything while its delivery is under way,
 * and the next start delivers it. Needs what `npm start` needs.
 *
 *     node --import ./bin/sources.js docs/images/record-kill.ts
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { login } from '../../test/support/client.ts';
import { npmStart, processesOf, signalGroup } from '../../test/support/npm-start.ts';
import { freePort } from '../../test/support/ports.ts';
import { until } from '../../test/support/until.ts';
import { type Line, terminalSvg } from './terminal.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const SVG = new URL('kill.svg', import.meta.url);
/** A receiver that is slow enough to be interrupted, ms. */
const SAVING_MS = 6_000;
/** How long a start may take, ms. */
const START_MS = 900_000;
const wait = promisify(setTimeout);

const lines: Line[] = [];
const began = performance.now();
function show(kind: Line['kind'], text: string): void {
  lines.push({ atMs: performance.now() - began, kind, text });
  console.log(text);
}

/** A shop that takes a moment to save an order, and saves nothing of a request that is cut off. */
function slowShop() {
  const seen = { requests: 0, cutOff: 0, saved: false };
  const server = createServer(async (request, response) => {
    seen.requests += 1;
    const { headers } = request;
    let cutOff = false;
    response.on('close', () => {
      if (response.writableFinished) return;
      cutOff = true;
      seen.cutOff += 1;
      show('bad', 'shop:    the connection is gone, nothing is saved');
    });
    let body = '';
    for await (const chunk of request.setEncoding('utf8')) body += chunk;
    const { eshopOrderId } = JSON.parse(body);
    show(
      'output',
      `shop:    ${headers['x-service-event']} ${eshopOrderId}, attempt ${headers['x-service-attempt']}: saving it …`,
    );
    await wait(SAVING_MS);
    if (cutOff) return;
    seen.saved = true;
    response.end('saved', () => show('good', `shop:    order ${eshopOrderId} is saved`));
  });
  return { server, seen };
}

const folder = await mkdtemp(join(tmpdir(), 'waybill-recording-'));
// The embedded Postgres may run as another user, who must be able to enter.
await chmod(folder, 0o755);
const dataDir = join(folder, 'data');
const port = await freePort();
const url = `http://127.0.0.1:${port}`;
const { server, seen } = slowShop();
server.listen(0, '127.0.0.1');
await once(server, 'listening');
const address = server.address();
const shop = `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}/`;
let started: ReturnType<typeof npmStart> | undefined;

async function start(): Promise<void> {
  show('command', 'npm start &');
  started = npmStart({ dataDir, cwd: ROOT, env: { PORT: String(port), METRICS_PORT: '0' } });
  const { output, ended } = started;
  const over = ended.then(() => Promise.reject(new Error(output())));
  // It ends later, as it should.
  over.catch(() => {});
  await Promise.race([
    over,
    until('the start', async () => output().includes('Waybill is ready.'), START_MS),
  ]);
  show('good', 'Waybill is ready.');
}

/** The processes of the instance: the program itself, its Postgres and its Temporal. */
async function everything(): Promise<number[]> {
  const children = await processesOf(dataDir);
  const { stdout } = spawn('pgrep', ['-g', String(started?.pid ?? 0)]);
  let text = '';
  for await (const chunk of stdout) text += chunk;
  return [...new Set([...text.trim().split('\n').map(Number), ...children])];
}

try {
  await start();
  const credentials = JSON.parse(await readFile(join(dataDir, 'demonstration.json'), 'utf8'));
  const api = await login(url, credentials);
  const { data: webhook } = await api.request('POST', '/webhooks', {
    url: shop,
    webhookType: 'CREATE_ORDER',
    method: 'POST',
    active: true,
    payloadVersion: 'v21',
  });
  // Now, since the request must still be under way afterwards.
  const pids = await everything();
  show('command', 'curl -X POST http://127.0.0.1:8080/v21/orders -d @order.json');
  const { statusCode, message } = await api.createOrder('10001');
  show('output', `${statusCode} ${message}`);
  await until('the request at the shop', async () => seen.requests === 1);
  show(
    'command',
    `kill -9 ${pids.slice(0, 6).join(' ')}${pids.length > 6 ? ' …' : ''}    # Waybill, its Postgres, its Temporal`,
  );
  signalGroup(started?.pid ?? 0, 'SIGKILL');
  for (const pid of pids) {
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      // It has ended with another.
    }
  }
  await until('the cut at the shop', async () => seen.cutOff === 1);
  await until('the end of all of them', async () => (await processesOf(dataDir)).length === 0);
  show('command', 'curl http://127.0.0.1:8080/readyz');
  await fetch(`${url}/readyz`).then(
    () => Promise.reject(new Error('It still answers.')),
    () => show('bad', 'curl: (7) Failed to connect to 127.0.0.1 port 8080'),
  );
  await start();
  await until('the order at the shop', async () => seen.saved);
  const again = await login(url, credentials);
  const states = async () => (await again.request('GET', `/webhooks/${webhook.id}/deliveries`)).data ?? [];
  await until('the delivery', async () => (await states())[0]?.state === 'delivered');
  const [{ state, attemptsMade }] = await states();
  show('command', `curl http://127.0.0.1:8080/v21/webhooks/${webhook.id}/deliveries`);
  show('good', `state: '${state}', attemptsMade: ${attemptsMade}`);
  await writeFile(SVG, terminalSvg('kill -9 in the middle of a delivery, and it arrives', lines));
} finally {
  if (started !== undefined) signalGroup(started.pid, 'SIGINT');
  await started?.ended;
  for (const pid of await processesOf(folder)) process.kill(pid, 'SIGKILL');
  server.closeAllConnections();
  server.close();
  await rm(folder, { recursive: true, force: true });
}
