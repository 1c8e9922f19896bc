/**
 * `npm run receiver:generate`: writes the parts of the receiver's kit that are made from the server's
 * schemas and signing code. Unchanged files are not written, so that a build stays newer than its
 * sources; the others are replaced in one step, as another build may be reading them.
 */
import { readFile, rename, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { generatedFiles } from './generated.ts';

for (const [path, source] of await generatedFiles()) {
  const file = fileURLToPath(new URL(`../../${path}`, import.meta.url));
  if ((await readFile(file, 'utf8').catch(() => null)) === source) continue;
  const made = `${file}.${process.pid}.generated`;
  await writeFile(made, source);
  await rename(made, file);
}
