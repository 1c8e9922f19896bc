/** `npm run release-schema`: from now on the schema's files are frozen. A release calls it; `test/unit/released-schema.test.ts` holds it. */
import { writeFile } from 'node:fs/promises';
import { readMigrations } from '../../src/db/applied-migrations.ts';
import { MIGRATIONS, readReleased, schemaProblems } from './released-schema.ts';

const files = await readMigrations(MIGRATIONS);
const problems = schemaProblems(files, await readReleased());
if (problems.length > 0) {
  console.error(problems.join('\n'));
  process.exit(1);
}
const hashes = Object.fromEntries(files.map(({ name, hash }) => [name, hash]));
await writeFile(new URL('released.json', MIGRATIONS), `${JSON.stringify(hashes, null, 2)}\n`);
console.log(`Frozen: ${Object.keys(hashes).join(', ')}`);
