/** The Temporal CLI is fetched where nothing leaves but through a proxy. */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, readFile, symlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:https';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, expect, it, onTestFinished } from 'vitest';
import { folderOfFile } from '../support/ends.ts';
import { installedProgram } from '../support/programs/installed-program.ts';
import { authorityFile, certificate } from '../support/servers/behind-tls.ts';
import { startHttpProxy } from '../support/servers/http-proxy.ts';
import { listenLocally } from '../support/servers/ports.ts';

const fetcher = fileURLToPath(new URL('../support/programs/fetch-temporal.ts', import.meta.url));
const program = '#!/bin/sh\necho "temporal version 1.9.1 (Server 1.32.0, UI 2.54.1)"\n';
const NOBODY = '127.0.0.1:1';

const directory = await folderOfFile('waybill-proxied-');
await writeFile(join(directory, 'temporal'), program, { mode: 0o755 });
const archive = join(directory, 'archive.tar.gz');
await promisify(execFile)('tar', ['-czf', archive, '-C', directory, 'temporal']);
// No Python, and no `temporal`.
await mkdir(join(directory, 'programs'));
for (const name of ['tar', 'gzip', 'sh'])
  await symlink(installedProgram(name) ?? '', join(directory, 'programs', name));
const bytes = await readFile(archive);
// It redirects once, as Temporal's does.
const server = createServer(await certificate(), ({ url }, response) =>
  url === '/archive' ? response.end(bytes) : response.writeHead(302, { location: '/archive' }).end(),
);
const origin: string = `localhost:${await listenLocally(server)}`;
afterAll(() => server.close());

/** What a start prints, with nothing but this in its environment. */
async function fetched(env: NodeJS.ProcessEnv): Promise<string> {
  const cache = await mkdtemp(join(directory, 'cache-'));
  const sha256 = createHash('sha256').update(program).digest('hex');
  const args = ['--import', 'tsx', fetcher, cache, `https://${origin}/`, sha256];
  return await new Promise((done) => {
    const PATH = join(directory, 'programs');
    execFile(
      process.execPath,
      args,
      { env: { PATH, NODE_EXTRA_CA_CERTS: authorityFile, ...env } },
      (_, stdout, stderr) => done(`${stdout}${stderr}`.replaceAll(cache, 'CACHE')),
    );
  });
}
const KEPT = /^CACHE\/temporal-cli-1\.9\.1\/temporal$/m;

it.each(['HTTPS_PROXY', 'https_proxy'])(
  'Temporal is fetched through %s, even without its scheme, but not for names in NO_PROXY',
  async (name) => {
    const proxy = await startHttpProxy();
    onTestFinished(() => proxy.close());
    expect(await fetched({ [name]: proxy.url.replace('http://', '') })).toMatch(KEPT);
    expect(new Set(proxy.heads)).toEqual(new Set([`CONNECT ${origin}`]));
    expect(await fetched({ [name]: NOBODY, NO_PROXY: 'localhost' })).toMatch(KEPT);
    expect(await fetched({ [name]: NOBODY })).toMatch(/that did not work: .*ECONNREFUSED/);
  },
);

it('a proxy passes the right password, and a wrong one is named as the reason', async () => {
  const proxy = await startHttpProxy({ credentials: { user: 'waybill', password: 'chosen' } });
  onTestFinished(() => proxy.close());
  const { host } = new URL(proxy.url);
  expect(await fetched({ HTTPS_PROXY: `http://waybill:chosen@${host}` })).toMatch(KEPT);
  const refused = await fetched({ HTTPS_PROXY: `http://waybill:wrong@${host}` });
  expect(refused).toMatch(
    /^No Temporal server: the download failed \(the proxy answered 407\); fetching it with pip failed \(there is no Python with pip\)/m,
  );
  expect(refused).not.toContain('wrong');
});
