/** What `waybill` does when nobody reads on. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { expect, it } from 'vitest';
import { builtCli } from '../support/built.ts';

it('ends in peace when whoever reads its output has read enough', async () => {
  const child = spawn(process.execPath, [builtCli, 'variables'], { stdio: ['ignore', 'pipe', 'pipe'] });
  // Long before anything is written.
  child.stdout.destroy();
  const [[code], complaints] = await Promise.all([once(child, 'close'), text(child.stderr)]);
  expect({ code, complaints }).toEqual({ code: 0, complaints: '' });
});
