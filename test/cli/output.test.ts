/** The output of `waybill`, and its behaviour when the reader stops reading. */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { open } from 'node:fs/promises';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { builtCli } from '../support/built.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database?.drop());

it('ends as a broken pipe ends others when the reader of its output has read enough', async () => {
  const child = spawn(process.execPath, [builtCli, 'variables'], { stdio: ['ignore', 'pipe', 'pipe'] });
  // Long before anything is written.
  child.stdout.destroy();
  const [[code], complaints] = await Promise.all([once(child, 'close'), text(child.stderr)]);
  expect({ code, complaints }).toEqual({ code: 141, complaints: '' });
});

it('tells on standard error what is shown once, where its output takes no more', async () => {
  const full = await open('/dev/full', 'w');
  try {
    const args = ['eshop', 'create', '--name', 'A', '--email', 'a@a.example'];
    const { status: code, stderr: complaints } = spawnSync(process.execPath, [builtCli, ...args], {
      stdio: ['ignore', full.fd, 'pipe'],
      encoding: 'utf8',
      env: { PATH: process.env.PATH, DATABASE_URL: database.url },
    });
    expect({ code, complaints }).toEqual({
      code: 1,
      complaints: expect.stringMatching(
        /^E-shop +\d+\nx-api-key +\S+\nShop user +shop \/ \S+\nWarehouse user +\S+ \/ \S+\nThe output cannot be written: ENOSPC: .+\.\n$/,
      ),
    });
  } finally {
    await full.close();
  }
});

it('an error that repeats what was given acts on no terminal, and turns no text', async () => {
  const child = spawn(process.execPath, [builtCli, 'eshop', 'list'], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { PATH: process.env.PATH, DATA_DIR: '/nowhere/a\u202eb\u009b31m\u001bc' },
  });
  const [complaints] = await Promise.all([text(child.stderr), once(child, 'close')]);
  expect(complaints).toContain('a\\u202eb');
  expect(complaints).not.toMatch(/[^\P{Cc}\n]|[\u202a-\u202e]/u);
});
