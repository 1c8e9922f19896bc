/**
 * `npm run receiver:generate`: writes what of the receiver's kit is made from the server's schemas and signing code.
 */
import { writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { generatedFiles } from './generated.ts';

for (const [path, source] of await generatedFiles()) {
  await writeFile(fileURLToPath(new URL(`../../${path}`, import.meta.url)), source);
  console.log(path);
}
