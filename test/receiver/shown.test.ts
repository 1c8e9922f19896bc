/** The receivers shown in the documents are the examples of the kit, which run here. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { sign, testSecret } from '../../receiver/src/testing.ts';
import { receiverWithKit } from '../../site/receiver-code.ts';
import { guideText } from '../support/repository/guides.ts';
import { freePort } from '../support/servers/ports.ts';
import { until } from '../support/until.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const read = (path: string) => readFileSync(`${root}/${path}`, 'utf8');
const languages: Readonly<Record<string, string>> = { ts: 'ts', py: 'python', php: 'php' };
const shown = (path: string) => `\`\`\`${languages[path.split('.').at(-1) ?? '']}\n${read(path)}\`\`\`\n`;

it('the documents show the examples unchanged', () => {
  for (const example of ['server', 'postgres-store', 'fill-gaps'])
    expect(read('receiver/README.md')).toContain(shown(`receiver/examples/${example}.ts`));
  expect(read('README.md')).toContain(shown('receiver/examples/server.ts'));
  expect(receiverWithKit).toBe(read('receiver/examples/server.ts'));
});

it.each([
  ['receiving', 'receiver/examples/server.ts'],
  ['receiving', 'receiver/recipes/python/server.py'],
  ['receiving', 'receiver/recipes/php/server.php'],
  ['verifying', 'receiver/recipes/python/waybill.py'],
  ['verifying', 'receiver/recipes/php/waybill.php'],
  ['recovering', 'receiver/examples/fill-gaps.ts'],
  ['idempotency', 'receiver/examples/postgres-store.ts'],
  ['idempotency', 'receiver/examples/postgres-order.ts'],
])('the guide on %s shows %s unchanged', (guide, path) => {
  expect(guideText(guide).replaceAll(/^(```\w+) .*$/gm, '$1')).toContain(shown(path));
});

it('the example accepts what the sender sends', async () => {
  const port = await freePort();
  const child = spawn(process.execPath, ['--import', 'tsx', 'receiver/examples/server.ts'], {
    cwd: root,
    env: { ...process.env, WEBHOOK_SECRET: testSecret, PORT: String(port) },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text;
  });
  const exited = once(child, 'exit');
  try {
    const url = `http://127.0.0.1:${port}/hooks/orders`;
    const send = async (kind: string, body: string) => {
      const headers = await sign({ method: 'POST', url, kind, body });
      return await fetch(url, { method: 'POST', headers, body }).catch(() => undefined);
    };
    const order = '{"eshopOrderId":"10001","recipientName":"Jana"}';
    const response = await until('the example to listen', () => send('CREATE_ORDER', order));
    expect(response.status).toBe(200);
    expect((await send('CREATE_PRODUCT', '{"sku":"TEA"}'))?.status).toBe(200);
    await until('the output', async () => output.includes('CREATE_PRODUCT TEA'));
    expect(output).toBe('New order 10001 of Jana\nCREATE_PRODUCT TEA\n');
  } finally {
    child.kill();
    await exited;
  }
});
