/** Dynamic imports of commands resolve in Node itself, not only in the tests' loader. */
import { execFile } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { builtCli } from '../support/programs/built.ts';

it('every part of the built command can be loaded', async () => {
  const folder = dirname(builtCli);
  const parts = readdirSync(folder).filter((name) => name.endsWith('.js') && name !== 'main.js');
  expect(parts.length).toBeGreaterThan(30);
  const imports = parts.map((name) => `await import(${JSON.stringify(pathToFileURL(join(folder, name)))});`);
  const { stderr } = await promisify(execFile)(process.execPath, [
    '--input-type=module',
    '--eval',
    imports.join('\n'),
  ]);
  expect(stderr).toBe('');
});
