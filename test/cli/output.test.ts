/** What `waybill` writes, and does when nobody reads on. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { expect, it } from 'vitest';
import { builtCli } from '../support/built.ts';

it('ends as a broken pipe ends others when whoever reads its output has read enough', async () => {
  const child = spawn(process.execPath, [builtCli, 'variables'], { stdio: ['ignore', 'pipe', 'pipe'] });
  // Long before anything is written.
  child.stdout.destroy();
  const [[code], complaints] = await Promise.all([once(child, 'close'), text(child.stderr)]);
  expect({ code, complaints }).toEqual({ code: 141, complaints: '' });
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
