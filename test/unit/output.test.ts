/** What the process writes: nothing is waited for; what cannot be written is dropped beyond a bound, and counted. */
import { execFileSync } from 'node:child_process';
import { closeSync, constants, openSync, readSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createOutput } from '../../src/log/output.ts';
import { folderOfFile } from '../support/ends.ts';
import { until } from '../support/until.ts';

const LINE = `${'x'.repeat(1_023)}\n`;
/** More than any pipe and the buffer hold together. */
const LINES = 4_096;

const directory = await folderOfFile('waybill-output-');

test('lines for a full disk are dropped beyond the limit, and counted', async () => {
  // Never closed: the output writes what waits again and again, and other files would get the descriptor's number.
  const output = createOutput(openSync('/dev/full', 'w'));
  for (let index = 0; index < LINES; index += 1) output.write(LINE);
  expect(output.lost()).toBe(LINES - 1_024);
});

test('a reader that pauses gets the oldest lines in order, and the number of missing ones', async () => {
  const path = join(directory, 'pipe');
  execFileSync('mkfifo', [path]);
  const reader = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  const writer = openSync(path, constants.O_WRONLY | constants.O_NONBLOCK);
  const output = createOutput(writer);
  let reported = 0;
  output.onResumed((lost) => {
    reported += lost;
  });
  let read = '';
  const buffer = Buffer.alloc(65_536);
  const readAll = () => {
    try {
      for (let n = 1; n > 0; read += buffer.toString('utf8', 0, n)) n = readSync(reader, buffer);
    } catch (error) {
      if (!String(error).includes('EAGAIN')) throw error;
    }
  };

  for (let index = 0; index < LINES; index += 1) output.write(`${index} ${LINE}`);
  expect(output.lost()).toBeGreaterThan(LINES / 2);
  await until('the rest', async () => {
    readAll();
    return reported > 0;
  });
  expect(reported).toBe(output.lost());
  readAll();
  const numbers = read
    .split('\n')
    .slice(0, -1)
    .map((line) => Number(line.split(' ')[0]));
  expect(numbers).toEqual(Array.from({ length: LINES - reported }, (_, index) => index));

  output.write('later\n');
  await until('a later line', async () => {
    readAll();
    return read.endsWith('later\n');
  });
  expect(output.lost()).toBe(reported);
  closeSync(reader);
  closeSync(writer);
});
