/** The proxy that other tests rely on works as described. */
import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { startTcpProxy, type TcpProxy } from '../support/tcp-proxy.ts';

let proxy: TcpProxy;
/** Everything that the server behind it received. */
let heard = '';
const server = createServer((socket) => {
  socket.on('error', () => {});
  socket.on('data', (piece) => {
    heard += piece;
    socket.write(piece);
  });
});

beforeEach(async () => {
  heard = '';
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  proxy = await startTcpProxy({ port: address.port });
});

afterEach(async () => {
  await proxy.close();
  server.close();
  await once(server, 'close');
});

interface Client {
  readonly socket: Socket;
  /** Sends a text, and reads until as much has come back or the link has ended. */
  say(text: string): Promise<string>;
}

async function client(): Promise<Client> {
  const socket = connect(proxy.port, '127.0.0.1');
  socket.on('error', () => {});
  await once(socket, 'connect');
  return {
    socket,
    say: (text) =>
      new Promise((resolve) => {
        let back = '';
        const take = (piece: Buffer) => {
          back += piece;
          if (back.length >= text.length) resolve(back);
        };
        socket.on('data', take);
        socket.once('close', () => resolve(back));
        socket.write(text);
      }),
  };
}

/** Resolves once a link has ended, with an error or not. */
function ended(socket: Socket): Promise<unknown> {
  return new Promise((resolve) => socket.once('close', resolve));
}

test('passes both ways, and lets an end through', async () => {
  const { socket, say } = await client();

  expect(await say('hello')).toBe('hello');
  expect(proxy).toMatchObject({ accepted: 1, open: 1 });
  socket.end();
  await ended(socket);
});

test('a cut resets the links that stand; new ones pass', async () => {
  const first = await client();
  await first.say('a');

  proxy.cut();
  await ended(first.socket);

  expect(await (await client()).say('b')).toBe('b');
});

test('silence swallows what standing and new links say, and their ends; passing again helps new ones alone', async () => {
  const old = await client();
  await old.say('before');
  proxy.silence();
  const during = await client();
  old.socket.write('lost');
  during.socket.write('lost');
  proxy.pass();

  const fresh = await client();
  expect(await fresh.say('after')).toBe('after');

  expect(heard).toBe('beforeafter');
  expect([old, during].map(({ socket }) => socket.destroyed)).toEqual([false, false]);
  for (const { socket } of [old, during]) socket.destroy();
});

test('refusing resets standing and new links', async () => {
  const old = await client();
  await old.say('a');

  proxy.refuse();
  await ended(old.socket);
  const later = connect(proxy.port, '127.0.0.1');
  later.on('error', () => {});
  await ended(later);

  expect(proxy.open).toBe(0);
});

test('a link is cut in the middle of an answer, or falls silent there', async () => {
  proxy.cutInAnswer(3);
  expect(await (await client()).say('abcdef')).toBe('abc');

  proxy.silenceInAnswer(2);
  const quiet = await client();
  const [piece] = await Promise.all([once(quiet.socket, 'data'), quiet.socket.write('uvwxyz')]);
  expect(String(piece[0])).toBe('uv');

  expect(await (await client()).say('abcdef')).toBe('abcdef');
  expect(quiet.socket.destroyed).toBe(false);
  quiet.socket.destroy();
});

test('silent links can be reset in the end, and those that pass are left alone', async () => {
  const silent = await client();
  await silent.say('one');
  proxy.silence();
  proxy.pass();
  const passing = await client();
  await passing.say('two');
  const over = ended(silent.socket);

  proxy.cutSilent();

  await over;
  expect(await passing.say('more')).toBe('more');
  passing.socket.destroy();
});
