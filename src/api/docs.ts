/** `/docs`: the static files of `npm run docs`, which are part of the build. */
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, statSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { gunzip, gzip } from 'node:zlib';
import type { Hono } from 'hono';
import { accepts } from 'hono/accepts';
import { etag } from 'hono/etag';
import { getMimeType, mimes } from 'hono/utils/mime';
import { notFound } from '../domain/problem.ts';
import { EXAMPLE_URL } from '../theme/public-url.ts';
import { securedPages } from '../theme/secured.ts';
import type { ApiEnv } from './deps.ts';

const DOCS = '/docs';

const TYPES = { ...mimes, md: 'text/markdown; charset=utf-8' };

/** Their names change with their content. */
const ASSETS = /^assets\//;

/** The site is beside the build, or in it when the sources run directly. Before the first build there is none. */
function findSite(): { folder: string; files: ReadonlySet<string> } {
  const folders = ['../../docs/', '../../dist/docs/'].map((path) =>
    fileURLToPath(new URL(path, import.meta.url)),
  );
  const folder = folders.find((each) => existsSync(join(each, 'index.html')));
  if (folder === undefined) return { folder: '', files: new Set() };
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  return { folder, files: new Set(names.filter((name) => statSync(join(folder, name)).isFile())) };
}

/** @param publicUrl replaces the address of a first instance in texts, if it is not null */
export function docsRoutes(app: Hono<ApiEnv>, publicUrl: string | null): void {
  const { folder, files } = findSite();
  const deepest = Math.max(...[...files].map((file) => file.split('/').length));
  const prepare = async (file: string) => {
    const text = await readFile(join(folder, file), 'utf8');
    const page = publicUrl === null ? text : text.replaceAll(EXAMPLE_URL, () => publicUrl);
    const hash = createHash('sha256').update(page).digest('base64url');
    return { zipped: new Uint8Array(await promisify(gzip)(page)), tag: `W/"${hash}"` };
  };
  // Anyone may request files, as often as they like, so each is prepared once. All of them take 4 MB.
  const preparedFiles = new Map<string, ReturnType<typeof prepare>>();
  const read = (file: string) => {
    const prepared = preparedFiles.get(file) ?? prepare(file);
    preparedFiles.set(file, prepared);
    // A file that could not be read is tried again.
    prepared.catch(() => preparedFiles.delete(file));
    return prepared;
  };
  const unzip = async (zipped: Uint8Array) => new Uint8Array(await promisify(gunzip)(zipped));
  // Relative, as all links here: a proxy may have added a path in front.
  app.get(DOCS, (c) => c.redirect(`docs/${new URL(c.req.url).search}`, 308));
  app.use(`${DOCS}/*`, etag(), securedPages('no-referrer'));
  app.get(`${DOCS}/*`, async (c) => {
    const path = c.req.path.slice(DOCS.length + 1);
    const file = path === '' || path.endsWith('/') ? `${path}index.html` : path;
    if (files.has(file)) {
      const { zipped, tag } = await read(file);
      const encoding = accepts(c, {
        header: 'Accept-Encoding',
        supports: ['gzip', 'identity'],
        default: 'identity',
      });
      if (encoding === 'gzip') c.header('content-encoding', encoding);
      return c.body(encoding === 'gzip' ? zipped : await unzip(zipped), 200, {
        etag: tag,
        vary: 'Accept-Encoding',
        'content-type': getMimeType(file, TYPES) ?? 'application/octet-stream',
        'cache-control': ASSETS.test(file) ? 'public, max-age=31536000, immutable' : 'no-cache',
      });
    }
    if (files.has(`${file}/index.html`))
      return c.redirect(`${file.split('/').at(-1)}/${new URL(c.req.url).search}`, 308);
    // A browser gets a page; a program gets the usual error. So does a path deeper than any page, since every link
    // of the page repeats each level.
    const depth = path.split('/').length;
    if (c.req.header('accept')?.includes('text/html') === true && files.has('404.html') && depth <= deepest) {
      const root = '../'.repeat(depth - 1) || './';
      const page = new TextDecoder().decode(await unzip((await read('404.html')).zipped));
      return c.html(page.replaceAll('="./', `="${root}`), 404);
    }
    throw notFound('There is no such page. See /docs.');
  });
}
