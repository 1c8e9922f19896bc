/** `waybill console --operator`: the real program prints a link that opens, and ends in order with Ctrl-C. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { builtCli } from '../support/built.ts';
import { createInstallation, type Installation } from '../support/installation.ts';
import { triedWaybill } from '../support/waybill-command.ts';

let installation: Installation;
beforeAll(async () => {
  installation = await createInstallation(inject('temporalAddress'));
});
afterAll(() => installation?.remove());

test('it serves this machine until Ctrl-C', async () => {
  const env = { PATH: process.env.PATH ?? '', ...installation.env };
  const child = spawn(process.execPath, [builtCli, 'console', '--operator', '--by', 'anna'], { env });
  const ended = once(child, 'close');
  try {
    const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
    const { value: line } = await lines.next();
    const [link = ''] = /http:\S+/.exec(String(line)) ?? [];
    expect(new URL(link).hostname).toBe('127.0.0.1');
    const entered = await fetch(link);
    expect(entered.status).toBe(200);
    const cookie = (entered.headers.get('set-cookie') ?? '').split(';')[0] ?? '';
    const page = await fetch(new URL('/console/all', link), { headers: { cookie } });
    expect(await page.text()).toContain('anna · operator');
    expect((await fetch(new URL('/v21/webhooks', link), { headers: { cookie } })).status).toBe(404);
  } finally {
    child.kill('SIGINT');
  }
  const [code] = await ended;
  expect(code).toBe(130);
});

test.each([
  [[], 'requires --operator'],
  [['--operator', '--port', '70000'], '--port must be an integer from 0 to 65535'],
  [['--operator', '--by', ' '], '--by must not be empty'],
])('refuses %j in a sentence', async (args, sentence) => {
  const { error, code } = await triedWaybill(['console', ...args], installation.env);
  expect([error?.includes(sentence), code]).toEqual([true, 1]);
});
