/**
 * `npm run receiver:generate`: writes the parts of the receiver's kit that are made from the server's schemas and signing code.
 * Unchanged files are not written, so that a build stays newer than its sources.
 */
import { readFile, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { generatedFiles } from './generated.ts';

for (const [path, source] of await generatedFiles()) {
  const file = fileURLToPath(new URL(`../../${path}`, import.meta.url));
  if ((await readFile(file, 'utf8').catch(() => null)) !== source) await writeFile(file, source);
}
