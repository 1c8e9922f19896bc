/** The receivers built with the recipes, each if its language is installed. */
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { sign, testSecret } from '../../receiver/src/testing.ts';
import { freePort } from '../support/ports.ts';
import { until } from '../support/until.ts';

const cwd = fileURLToPath(new URL('../../receiver/recipes', import.meta.url));

/** The program, and its arguments for a port. */
const servers: readonly [string, string, (port: string) => string[]][] = [
  ['Python', 'python3', () => ['-B', 'python/server.py']],
  ['PHP', 'php', (port) => ['-S', `127.0.0.1:${port}`, 'php/server.php']],
];

it.for(servers)('a receiver in %s', async ([language, program, argumentsFor], { skip }) => {
  const present = await promisify(execFile)(program, ['--version']).catch(() => null);
  if (present === null) return skip(`${language} is not present on this machine.`);
  const port = String(await freePort());
  const env = { ...process.env, WEBHOOK_SECRET: testSecret, PORT: port };
  const child = spawn(program, argumentsFor(port), { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
  }
  const exited = once(child, 'exit');
  try {
    const url = `http://127.0.0.1:${port}/hooks?shop=1`;
    const body = JSON.stringify({ eshopOrderId: '10001', recipientName: 'Jana' });
    const send = async (headers: Record<string, string>) =>
      await fetch(url, { method: 'POST', headers, body }).catch(() => undefined);
    const signed = { method: 'POST', url, kind: 'CREATE_ORDER', body } as const;
    const unsigned = { 'content-type': 'application/json' };
    const refused = await until('the receiver to listen', () => send(unsigned));
    expect(refused.status).toBe(401);
    expect((await send(await sign({ ...signed, test: true })))?.status).toBe(200);
    const id = crypto.randomUUID();
    for (const attempt of [1, 2])
      expect((await send(await sign({ ...signed, id, attempt })))?.status).toBe(200);
    // Its output may arrive later than its responses.
    await until('the output', async () => output.includes('New order 10001 of Jana'));
    expect(output.match(/New order 10001 of Jana/g)).toHaveLength(1);
  } finally {
    child.kill();
    await exited;
  }
});
