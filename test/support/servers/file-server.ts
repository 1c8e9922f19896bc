/** A plain web server for static files, like any static host: it only adds `index.html` to folders. */
import { once } from 'node:events';
import { readFile, stat } from 'node:fs/promises';
import { createServer } from 'node:http';
import { extname, join } from 'node:path';
import { listenLocally } from './ports.ts';

const TYPES: Readonly<Record<string, string>> = {
  '.css': 'text/css',
  '.html': 'text/html',
  '.js': 'text/javascript',
  '.json': 'application/json',
  '.svg': 'image/svg+xml',
};

/** Serves a folder under a path. @param prefix such as `/some/path` */
export async function servePlainly(folder: string, prefix: string) {
  const server = createServer(async (request, response) => {
    const { pathname } = new URL(request.url ?? '', 'http://localhost');
    const end = (status: number, headers: Record<string, string> = {}, body: string | Buffer = '') => {
      response.writeHead(status, headers);
      response.end(body);
    };
    if (!pathname.startsWith(`${prefix}/`)) return end(404);
    const path = join(folder, pathname.slice(prefix.length));
    const found = await stat(path).catch(() => undefined);
    if (found?.isDirectory() === true && !pathname.endsWith('/'))
      return end(301, { location: `${pathname}/` });
    const file = found?.isDirectory() === true ? join(path, 'index.html') : path;
    const body = await readFile(file).catch(() => undefined);
    return body === undefined
      ? end(404)
      : end(200, { 'content-type': TYPES[extname(file)] ?? 'text/plain' }, body);
  });
  const port = await listenLocally(server);
  return {
    /** Of the folder, with a slash at its end. */
    url: `http://127.0.0.1:${port}${prefix}/`,
    async close(): Promise<void> {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
