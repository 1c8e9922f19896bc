/** The receivers built with the recipes, each if its language is installed. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { MAX_BODY_BYTES } from '../../receiver/src/read-body.ts';
import { sign, testSecret } from '../../receiver/src/testing.ts';
import { folderOfFile } from '../support/ends.ts';
import { freePort } from '../support/servers/ports.ts';
import { until } from '../support/until.ts';
import { buildGo, type Language, missing, recipesFolder } from './languages.ts';

const temporary = await folderOfFile('waybill-recipe-servers-');
const port = String(await freePort());
const url = `http://127.0.0.1:${port}/hooks?shop=1`;

const commandOf = (language: string): readonly [string, ...string[]] => {
  if (language === 'Python') return ['python3', '-B', 'python/server.py'];
  return language === 'PHP' ? ['php', 'php/server.php'] : [join(temporary, 'server')];
};

/** A receiver under way. */
interface Server {
  /** What it has written. */
  output(): string;
  /** Its exit code, once it has ended by itself. */
  readonly ended: Promise<number | null>;
  stop(): Promise<void>;
}

function start(language: string, secret: string | undefined, extra: NodeJS.ProcessEnv = {}): Server {
  const [program, ...args] = commandOf(language);
  const { WEBHOOK_SECRET: _, ...others } = process.env;
  const env = {
    ...others,
    ...(secret === undefined ? {} : { WEBHOOK_SECRET: secret }),
    PORT: port,
    ...extra,
  };
  // A process group: PHP starts its server as its child.
  const child = spawn(program, args, {
    cwd: recipesFolder,
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
  }
  // `close`: everything it has written has been read.
  const closed = once(child, 'close');
  return {
    output: () => output,
    ended: closed.then(([code]) => code),
    async stop() {
      if (child.pid !== undefined && child.exitCode === null) process.kill(-child.pid);
      await closed;
    },
  };
}

const send = async (headers: Record<string, string>, body: string) =>
  await fetch(url, { method: 'POST', headers, body }).catch(() => undefined);
/** The status in the response to these bytes, after which nothing more is sent. */
async function statusOf(request: string): Promise<string | undefined> {
  const socket = connect({ host: '127.0.0.1', port: Number(port) });
  let answer = '';
  socket.setEncoding('utf8').on('data', (text: string) => {
    answer += text;
  });
  // The answer may come before everything is sent, which then fails.
  socket.on('error', () => {});
  const closed = once(socket, 'close');
  socket.end(request);
  await closed;
  return /^HTTP\/1\.[01] (\d+)/.exec(answer)?.[1];
}
const order = JSON.stringify({ eshopOrderId: '10001', recipientName: 'Jana' });

describe.for<Language>(['Python', 'PHP', 'Go'])('a receiver in %s', (language) => {
  let reason: string | null = null;
  beforeAll(async () => {
    reason = await missing(language);
    if (reason === null && language === 'Go') await buildGo('./server', join(temporary, 'server'));
  });

  it('accepts a signed delivery, and handles it once', async ({ skip }) => {
    if (reason !== null) return skip(reason);
    const server = start(language, testSecret);
    onTestFinished(async () => void (await server.stop()));
    const signed = { method: 'POST', url, kind: 'CREATE_ORDER', body: order } as const;
    const unsigned = { 'content-type': 'application/json' };
    const refused = await until('the receiver to listen', () => send(unsigned, order));
    expect(refused.status).toBe(401);
    expect((await send(await sign({ ...signed, test: true }), order))?.status).toBe(200);
    const id = crypto.randomUUID();
    for (const attempt of [1, 2])
      expect((await send(await sign({ ...signed, id, attempt }), order))?.status).toBe(200);
    // Its output may arrive later than its responses.
    await until('the output', async () => server.output().includes('New order 10001 of Jana'));
    expect(server.output().match(/New order 10001 of Jana/g)).toHaveLength(1);
  });

  it('decides by verified values: not by an empty test mark, nor by a header with underscores', async ({
    skip,
  }) => {
    if (reason !== null) return skip(reason);
    const server = start(language, testSecret);
    onTestFinished(async () => void (await server.stop()));
    await until('the receiver to listen', () => send({}, order));
    const known = crypto.randomUUID();
    const beside: Record<string, string>[] = [
      {},
      { 'x-service-test': '' },
      { X_Service_Test: 'true' },
      { X_Service_Delivery: known },
    ];
    for (const [index, more] of beside.entries()) {
      const body = JSON.stringify({ eshopOrderId: `beside-${index}`, recipientName: 'Jana' });
      const id = index === 0 ? known : crypto.randomUUID();
      const headers = await sign({ method: 'POST', url, kind: 'CREATE_ORDER', body, id });
      expect((await send({ ...headers, ...more }, body))?.status).toBe(200);
      await until('the order', async () => server.output().includes(`New order beside-${index} of`));
    }
  });

  it('acknowledges nothing that it fails to handle, even if PHP displays errors', async ({ skip }) => {
    if (reason !== null) return skip(reason);
    await writeFile(join(temporary, 'php.ini'), 'display_errors = 1');
    const server = start(language, testSecret, { PHPRC: temporary });
    onTestFinished(async () => void (await server.stop()));
    await until('the receiver to listen', () => send({}, order));
    const body = 'no order';
    const headers = await sign({ method: 'POST', url, kind: 'CREATE_ORDER', body });
    expect((await send(headers, body))?.ok ?? false).toBe(false);
  });

  it('refuses a body that is too large, incomplete or without a length', async ({ skip }) => {
    if (reason !== null) return skip(reason);
    const server = start(language, testSecret);
    onTestFinished(async () => void (await server.stop()));
    await until('the receiver to listen', () => send({}, order));
    const answered = (length: number | string, body: string) =>
      statusOf(
        `POST /hooks HTTP/1.1\r\nhost: shop\r\nconnection: close\r\ncontent-length: ${length}\r\n\r\n${body}`,
      );
    const greatest = 'x'.repeat(MAX_BODY_BYTES);
    expect((await send({}, greatest))?.status).toBe(401);
    // Python's goes by the length alone.
    const more = language === 'Python' ? '{}' : `${greatest}x`;
    expect(await answered(MAX_BODY_BYTES + 1, more)).toBe('413');
    // PHP's own server answers nothing to the others.
    if (language === 'PHP') return;
    for (const length of ['3', '-1', 'x', '9'.repeat(5_000)])
      expect(await answered(length, '{}'), length).toBe('400');
  });

  it('does not start with a missing or incomplete secret, and says so in one sentence', async ({ skip }) => {
    if (reason !== null) return skip(reason);
    for (const secret of [
      undefined,
      '',
      'whsec_abc',
      ' '.repeat(24),
      `"${testSecret}"`,
      `\${WAREHOUSE_WEBHOOK_SECRET}`,
    ]) {
      const server = start(language, secret);
      try {
        expect(await server.ended).toBe(1);
        expect(server.output()).toMatch(
          /WEBHOOK_SECRET: a secret is not set, cut off, in quotes or spaces, or a placeholder\.\n$/,
        );
        expect(server.output().trim().split('\n')).toHaveLength(1);
      } finally {
        await server.stop();
      }
    }
  });
});
