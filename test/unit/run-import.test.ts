/** However an import ends, everything that it created has been printed: keys and secrets are shown nowhere else. */
import { PassThrough } from 'node:stream';
import { expect, test } from 'vitest';
import type { ImportSource } from '../../src/cli/imports/import-lines.ts';
import { type Outcome, runImport } from '../../src/cli/imports/run-import.ts';
import { triedWaybill } from '../support/waybill-command.ts';

interface Made {
  readonly outcome: Outcome;
  readonly key: string;
}

/** Imports the lines as a table; answers its output, and how it ended. */
async function imported(lines: ImportSource['lines'], stop: ImportSource['stop'] = () => {}) {
  const printed: string[] = [];
  const ended = await runImport<Made>({
    noun: 'e-shop',
    source: { lines, progress: () => null, stop },
    importOne: async (value) => ({ outcome: 'created', key: `key-${value}` }),
    refused: (_value, key, outcome) => ({ outcome, key }),
    cells: ({ key }) => ({ key }),
    dryRun: false,
    json: false,
    print: (line) => printed.push(line),
  }).then(
    () => 'done',
    (error: unknown) => String(error),
  );
  return { printed: printed.join('\n'), ended };
}

test.each(['SIGINT', 'SIGTERM'] as const)('%s while it waits for the next line', async (name) => {
  const read = new PassThrough({ objectMode: true });
  for (const value of ['a', 'b', 'c']) read.write({ line: 1, value });
  async function* lines() {
    for await (const each of read) {
      if (each.value === 'c') setImmediate(() => process.emit(name));
      yield each;
    }
  }
  const { printed, ended } = await imported(lines(), (reason) => void read.destroy(reason));
  for (const key of ['key-a', 'key-b', 'key-c']) expect(printed).toContain(key);
  expect(ended).toContain('Stopped.');
});

test('a failure in the middle', async () => {
  async function* lines() {
    yield { line: 1, value: 'a' };
    throw new Error('the database is away');
  }
  expect(await imported(lines())).toMatchObject({
    printed: expect.stringContaining('key-a'),
    ended: expect.stringContaining('the database is away'),
  });
});

test.each([
  ['import-webhooks', '-', '--dry-run'],
  ['examine', '1'],
])('%s without an instance is one sentence', async (...args) => {
  expect(await triedWaybill(args, {})).toEqual({
    code: 1,
    printed: '',
    error: expect.stringMatching(/^No Waybill instance has run with DATA_DIR=.+\.$/),
  });
});
