/** `npm run docs [FOLDER]`, in the repository's root: the documentation as static files, for any server and path. */
import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { UserError } from '../src/lib/user-error.ts';
import { documentOfFirstInstance } from './document.ts';
import { readDocuments } from './documents.ts';
import { siteFiles } from './files.ts';

const [folder = 'dist/docs'] = process.argv.slice(2);

/** Of pages that are no more, too; but nothing else. */
function removeLast(): void {
  if (!existsSync(folder) || readdirSync(folder).length === 0) return;
  if (!existsSync(join(folder, 'llms.txt')))
    throw new UserError(`${folder} has other files: name a new folder.`);
  rmSync(folder, { recursive: true });
}

const files = siteFiles(await documentOfFirstInstance(), readDocuments('docs'));
removeLast();
for (const [file, text] of files) {
  const path = join(folder, file);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}
