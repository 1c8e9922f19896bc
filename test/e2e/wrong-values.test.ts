/** A start with a wrong value that mostly shows only outside the configuration: one sentence, and nothing created. */
import { readdir, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { folderOfFile } from '../support/ends.ts';
import { startProgram } from '../support/programs/program.ts';
import { listenLocally } from '../support/servers/ports.ts';

const folder = await folderOfFile('waybill-wrong-');
const file = join(folder, 'file');
await writeFile(file, 'some\nhost\n');

const wrong: readonly (readonly [string, () => string])[] = [
  ['RETRY_WINDOW', () => '2 days'],
  ['HOST', () => '192.0.2.1'],
  ['DATA_DIR', () => file],
  ['MARKETPLACES_FILE', () => file],
];

it.each(wrong)('an unusable %s is named', async (variable, value) => {
  const started = startProgram({ DATA_DIR: join(folder, 'data'), [variable]: value() });
  const output = await started.then(
    async (program) => {
      await program.stop();
      return program.output();
    },
    (error: unknown) => String(error),
  );
  const lines = output.split('\n').filter((line) => line.startsWith(variable) || line.startsWith('{'));
  expect(lines, output).toHaveLength(1);
  const [line = ''] = lines;
  // The log begins only when the configuration has been read.
  expect(line.startsWith('{') ? JSON.parse(line).reason : line).toMatch(
    new RegExp(`^${variable} must .+\\.$`),
  );
  expect(output).not.toMatch(/^ +at /m);
  expect(output).not.toContain('Starting');
  expect(await readdir(folder)).toEqual(['file']);
});

it.each(['PORT', 'METRICS_PORT'])('a %s that is in use is named', async (variable) => {
  const taken = createServer();
  onTestFinished(() => void taken.close());
  const port = await listenLocally(taken);
  const dataDir = join(folder, 'data');
  onTestFinished(() => rm(dataDir, { recursive: true, force: true }));
  const started = startProgram({ DATA_DIR: dataDir, [variable]: String(port) });
  const output = await started.then(() => '', String);
  // Nothing comes before the line, and nothing after it.
  const [, line = ''] = /ready:\n(.*)\n\n\(ended with 1\)/.exec(output) ?? [];
  expect(JSON.parse(line), output).toMatchObject({
    level: 60,
    time: expect.any(Number),
    role: 'all',
    msg: 'the process ends',
    reason: `${variable} ${port} on 127.0.0.1 is in use: choose another one, or 0 for any free one.`,
  });
  expect(await readdir(dataDir)).toEqual([]);
});
