/** `waybill console --operator`: the real program prints a link that opens, and Ctrl-C ends it in order. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { expect, inject, test } from 'vitest';
import { ownParts } from '../../src/cli/own-parts.ts';
import { installationOfFile } from '../support/lifetimes.ts';
import { builtCli } from '../support/programs/built.ts';
import { triedWaybill } from '../support/programs/waybill-command.ts';

const installation = await installationOfFile(inject('temporalAddress'));

/** Whether this installation treats the port as its own, which no webhook may lead to. */
async function isOwn(url: string): Promise<boolean> {
  const { own } = await ownParts(installation.env);
  return own.includes('127.0.0.1', Number(new URL(url).port));
}

test('waybill console serves this machine until Ctrl-C', async () => {
  const env = { PATH: process.env.PATH ?? '', ...installation.env };
  const child = spawn(process.execPath, [builtCli, 'console', '--operator', '--by', 'anna'], { env });
  const ended = once(child, 'close');
  let link = '';
  try {
    const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
    const { value: line } = await lines.next();
    link = /http:\S+/.exec(String(line))?.[0] ?? '';
    expect(new URL(link).hostname).toBe('127.0.0.1');
    const entered = await fetch(link);
    expect(entered.status).toBe(200);
    const cookie = (entered.headers.get('set-cookie') ?? '').split(';')[0] ?? '';
    const page = await fetch(new URL('/console/all', link), { headers: { cookie } });
    expect(await page.text()).toContain('anna · operator');
    expect((await fetch(new URL('/v21/webhooks', link), { headers: { cookie } })).status).toBe(404);
    expect(await isOwn(link)).toBe(true);
  } finally {
    child.kill('SIGINT');
  }
  const [code] = await ended;
  expect(code).toBe(130);
  expect(await isOwn(link)).toBe(false);
});

test.each([
  [[], 'requires --operator'],
  [['--operator', '--port', '70000'], '--port must be an integer from 0 to 65535'],
  [['--operator', '--by', ' '], '--by must not be empty'],
])('waybill console refuses %j in one sentence', async (args, message) => {
  const { error, code } = await triedWaybill(['console', ...args], installation.env);
  expect([error?.includes(message), code]).toEqual([true, 1]);
});
