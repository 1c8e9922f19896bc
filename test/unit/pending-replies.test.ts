/** The account of a server's outstanding replies, message by message and byte by byte. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createPendingReplies } from '../../src/db/connection/pending-replies.ts';

/** A message of the protocol. */
function message(type: string, content = ''): Buffer {
  const bytes = Buffer.from(content);
  const header = Buffer.alloc(5);
  header.write(type);
  header.writeUInt32BE(bytes.length + 4, 1);
  return Buffer.concat([header, bytes]);
}

/** A client's first message has a length but no type. */
const STARTUP = message('?', '\0\x03\0\0user\0waybill\0\0').subarray(1);
const READY = message('Z', 'I');

/** An account with a session that has been started. */
function started() {
  const pending = createPendingReplies();
  pending.sent(STARTUP);
  pending.received(Buffer.concat([message('R', '\0\0\0\0'), message('S', 'a\0b\0'), READY]));
  return pending;
}

test('the reply to the start of a session is outstanding until it is ready', () => {
  const pending = createPendingReplies();
  pending.sent(STARTUP);
  pending.received(message('R', '\0\0\0\0'));
  expect(pending.any).toBe(true);
  pending.received(READY);
  expect(pending.any).toBe(false);
});

test('the reply to a query is outstanding until its last byte', () => {
  const pending = started();
  pending.sent(message('Q', 'select 1\0'));
  expect(pending.any).toBe(true);
  pending.received(
    Buffer.concat([message('T', 'x'), message('D', 'Z'.repeat(40)), message('C', 'SELECT 1\0')]),
  );
  expect(pending.any).toBe(true);
  pending.received(READY.subarray(0, 5));
  expect(pending.any).toBe(true);
  pending.received(READY.subarray(5));
  expect(pending.any).toBe(false);
});

test('each reply to several queries sent at once is outstanding', () => {
  const pending = started();
  const query = Buffer.concat([message('B'), message('E'), message('S')]);
  pending.sent(Buffer.concat([query, query, message('Q', 'select 1\0')]));

  const states = [1, 2, 3].map(() => {
    pending.received(Buffer.concat([message('2'), message('C'), READY]));
    return pending.any;
  });

  expect(states).toEqual([true, true, false]);
});

test('the reply to a flushed description is outstanding until its description or an error', () => {
  const pending = started();
  pending.sent(Buffer.concat([message('P', 'select $1'), message('D', 'S'), message('H')]));
  pending.received(message('1'));
  expect(pending.any).toBe(true);
  pending.received(Buffer.concat([message('t', '\0\0'), message('n')]));
  expect(pending.any).toBe(false);

  pending.sent(Buffer.concat([message('P', 'nonsense'), message('D', 'S'), message('H')]));
  pending.received(message('E', 'SERROR\0'));
  expect(pending.any).toBe(false);
  pending.sent(message('S'));
  expect(pending.any).toBe(true);
  pending.received(READY);
  expect(pending.any).toBe(false);
});

test('unsolicited messages of the server do not count', () => {
  const pending = started();
  pending.received(
    Buffer.concat([message('A', 'channel\0'), message('N', 'notice\0'), message('S', 'a\0b\0')]),
  );
  expect(pending.any).toBe(false);
});

test('the reply may arrive in any pieces', () => {
  const stream = Buffer.concat([
    message('T', 'columns'),
    ...Array.from({ length: 5 }, (_, index) => message('D', 'Z'.repeat(index * 7))),
    message('C', 'SELECT 5\0'),
    READY,
  ]);
  fc.assert(
    fc.property(fc.array(fc.nat(stream.length)), (cuts) => {
      const pending = started();
      pending.sent(message('Q', 'select 1\0'));
      const at = [0, ...cuts.sort((a, b) => a - b), stream.length];
      const pieces = at.slice(1).map((end, index) => stream.subarray(at[index], end));
      for (const piece of pieces.slice(0, -1)) pending.received(piece);
      pending.received((pieces.at(-1) ?? Buffer.alloc(0)).subarray(0, -1));
      const before = pending.any;
      pending.received(stream.subarray(-1));
      // A cut after the last byte has already been reported in full.
      return pending.any === false && (before || cuts.includes(stream.length));
    }),
  );
});
