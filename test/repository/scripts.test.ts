/** The scripts that are no TypeScript: no compiler checks that the files and names that they import exist. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';

const root = resolve(import.meta.dirname, '../..');
const dist = join(root, 'dist/');
/** `import { one, two } from './other.js'` and `import('./other.js')`. */
const IMPORT = /^import \{([^}]*)\} from '(\.[^']+)'|\bimport\('(\.[^']+)'\)/gm;

/** A file of the build, by its source; any other as it is. */
const sourceOf = (path: string) =>
  path.startsWith(dist) ? join(root, path.slice(dist.length)).replace(/\.js$/, '.ts') : path;

const imports = ['bin', 'deploy'].flatMap((folder) =>
  readdirSync(join(root, folder))
    .filter((name) => name.endsWith('.js'))
    .flatMap((script) =>
      [...readFileSync(join(root, folder, script), 'utf8').matchAll(IMPORT)].map(
        ([, names = '', from, later = '']) => ({
          script: `${folder}/${script}`,
          from: from ?? later,
          path: sourceOf(resolve(root, folder, from ?? later)),
          names: names.split(',').flatMap((name) => name.trim() || []),
        }),
      ),
    ),
);

test.each(imports)('$script imports only existing names from $from', async ({ path, names }) => {
  expect(existsSync(path), `${path} is missing`).toBe(true);
  // Without names the file is run, not read.
  const exported = names.length === 0 ? {} : await import(path);
  expect(names.filter((name) => !(name in exported))).toEqual([]);
});
