/**
 * The quickstart, pasted block by block into a shell, and then the other guides' commands, against `npm start`.
 * Unlike for a reader, `npm ci` has been done, and the ports are free ones.
 */
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, cp, mkdir, mkdtemp, readdir, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, expect, it } from 'vitest';
import { banner, npmStart, processesOf, type Started, signalGroup } from '../support/programs/npm-start.ts';
import { blocksOf, guideNames, guideText } from '../support/repository/guides.ts';
import { nightly } from '../support/runner/nightly.ts';
import { freePort } from '../support/servers/ports.ts';
import { until } from '../support/until.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const blocks = blocksOf('quickstart');
let output = '';

/** Makes a checkout without a `.waybill`, separate from this one. */
async function copyCheckout(): Promise<void> {
  await mkdir(checkout);
  for (const entry of await readdir(root)) {
    if (['.waybill', '.git', 'receiver'].includes(entry)) continue;
    await symlink(join(root, entry), join(checkout, entry));
  }
  const source = (path: string) => !/[/](?:dist|node_modules)$/.test(path);
  await cp(join(root, 'receiver'), join(checkout, 'receiver'), { recursive: true, filter: source });
}

/** The checkout, and the reader's project beside it. */
const folder = await mkdtemp(join(tmpdir(), 'waybill-quickstart-'));
// The embedded Postgres may run as another user, who must be able to enter.
await chmod(folder, 0o755);
const checkout = join(folder, 'waybill');
await copyCheckout();
const ports: { readonly api: number; readonly receiver: number; readonly other: number } = {
  api: await freePort(),
  receiver: await freePort(),
  other: await freePort(),
};
const dataDir = join(checkout, '.waybill');
const started: Started = npmStart({
  dataDir,
  cwd: checkout,
  env: { PORT: String(ports.api), METRICS_PORT: '0' },
});
await banner(started);
const shell: ChildProcessWithoutNullStreams = spawn('bash', ['--noprofile', '--norc'], {
  cwd: checkout,
  detached: true,
});
for (const stream of [shell.stdout, shell.stderr]) {
  stream.setEncoding('utf8').on('data', (text: string) => {
    output += text;
  });
}
afterAll(async () => {
  if (shell.pid !== undefined) {
    const exited = once(shell, 'exit');
    signalGroup(shell.pid, 'SIGKILL');
    await exited;
  }
  if (started !== undefined) {
    signalGroup(started.pid, 'SIGINT');
    await started.ended;
  }
  for (const pid of await processesOf(folder)) process.kill(pid, 'SIGKILL');
  await rm(folder, { recursive: true, force: true });
});

/**
 * Types a block, and waits for the prompt.
 * @throws Error if one of its commands fails, also one before a pipe
 */
async function paste(block: string): Promise<string> {
  const text = block
    .replaceAll('8080', String(ports.api))
    .replaceAll('9000', String(ports.receiver))
    .replaceAll('9001', String(ports.other));
  const from = output.length;
  const prompt = `prompt-${from}`;
  // `set -e` would end the shell: the trap records the failure instead.
  shell.stdin.write(`failed=0; trap 'failed=1' ERR\n${text}\ntrap - ERR; echo; echo ${prompt} $failed\n`);
  const end = new RegExp(`^${prompt} (\\d+)$`, 'm');
  await until(`the end of\n${text}`, async () => end.test(output.slice(from)));
  const shown = output.slice(from);
  if (end.exec(shown)?.[1] !== '0') throw new Error(`${text}\nfailed:\n${shown}`);
  return shown.replace(end, '');
}

it('the quickstart has six steps, and the first one starts Waybill', () => {
  expect(guideText('quickstart').match(/^## \d/gm)).toHaveLength(6);
  expect(blocks.map(({ language }) => language)).toEqual(Array(6).fill('bash'));
  expect(blocks[0]?.text).toBe('npm ci\nnpm start\n');
});

it('the quickstart leads to a signed delivery in a receiver that passes an examination', async () => {
  const [, login = '', install = '', subscribe = '', order = '', examine = ''] = blocks.map(
    ({ text }) => text,
  );
  await paste('set -o pipefail');
  expect(await paste(login)).toContain("name: 'Demonstration'");
  await paste(install);
  const tested = await paste(subscribe);
  expect(tested).toContain('The header X-Service-Signature is missing.');
  expect(tested).toContain("outcome: 'success'");
  expect(await paste(order)).toContain('Order created.');
  await until('the order in the receiver', async () => output.includes('New order 10001 from Jana Nováková'));
  const state = "api GET /webhooks/$ID/deliveries | json 'data[0].state'";
  await until('the answer in the log', async () => (await paste(state)).includes('delivered'));
  const verdicts = (await paste(examine)).match(/^(ok|warning|fail) {2}.+$/gm) ?? [];
  expect(verdicts).toHaveLength(14);
  expect(verdicts.filter((line) => !line.startsWith('ok'))).toEqual([]);
});

it('the guide for a WMS leads from its own list to webhooks, each change once', async () => {
  const [login = '', receiver = '', changes = '', translate = '', send = '', again = ''] = blocksOf(
    'from-your-wms',
  ).map(({ text }) => text);
  await paste(login);
  expect(await paste(receiver)).toContain('Order created.');
  await paste(changes);
  expect(await paste(translate)).toContain(
    '{"operation":"orderStatus","id":"WMS-1","idempotencyKey":"wms-88001","body":{"status":"received"}}',
  );
  const results = (await paste(send)).match(/"statusCode":\d+/g);
  expect(results).toEqual(Array(3).fill('"statusCode":200'));
  for (const status of ['received', 'processing', 'packed'])
    await until(`${status} in the receiver`, async () => output.includes(`WMS-1 is ${status}`));
  expect(await paste(again)).toMatch(/^3$/m);
});

const others = guideNames().filter((name) => !['quickstart', 'from-your-wms'].includes(name));
it.runIf(nightly).each(others)('the commands of the guide %s work afterwards', async (name) => {
  const bash = blocksOf(name).filter(({ language }) => language === 'bash');
  for (const { text } of bash) expect(await paste(text)).not.toMatch(/^undefined$/m);
});

it('the receiver still verifies what its webhook sends', async () => {
  expect(await paste('api POST /webhooks/$ID/test | json data.outcome')).toContain('success');
});

it('the receiver can be stopped at the end', async () => {
  await paste('kill %1');
});
