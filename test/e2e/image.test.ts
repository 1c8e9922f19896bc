/**
 * Both targets of the Dockerfile, built and run without Docker: on an empty Debian, as their own user, unprivileged,
 * on a read-only root. Needs root and Debian's `debootstrap`. IMAGE_BASE names a folder that keeps the Node.js image.
 */
import { execFile } from 'node:child_process';
import { chown, copyFile, mkdir, mkdtemp, readdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import * as v from 'valibot';
import { describe, expect, it, onTestFinished } from 'vitest';
import { freePort } from '../../src/embedded/ports.ts';
import { login } from '../support/api/client.ts';
import { folderOfFile } from '../support/ends.ts';
import { createInstallation } from '../support/programs/installation.ts';
import { buildImages, type Image, run } from '../support/repository/image/build.ts';
import { type Container, startContainer } from '../support/repository/image/container.ts';
import { createReceiver } from '../support/servers/receiver.ts';
import { until } from '../support/until.ts';

const root = resolve(import.meta.dirname, '../..');
const DATA = '/var/lib/waybill';
/** Of the image's user. */
const NODE_ID = 1000;

/** A build of the sources as they are, under this version. */
async function build(version: string): Promise<Record<'serve' | 'try', Image>> {
  const [context, folder] = [join(work, version, 'context'), join(work, version, 'images')];
  await mkdir(folder, { recursive: true });
  const { stdout } = await promisify(execFile)(
    'git',
    ['ls-files', '--cached', '--others', '--exclude-standard', '-z'],
    { cwd: root, maxBuffer: 16 * 1024 * 1024 },
  );
  for (const name of stdout.split('\0').filter(Boolean)) {
    await mkdir(dirname(join(context, name)), { recursive: true });
    await copyFile(join(root, name), join(context, name));
  }
  const manifest = join(context, 'package.json');
  await writeFile(
    manifest,
    (await readFile(manifest, 'utf8')).replace(/"version": "[^"]+"/, `"version": "${version}"`),
  );
  const dockerfile = await readFile(join(context, 'Dockerfile'), 'utf8');
  const base = process.env.IMAGE_BASE ?? join(work, 'base');
  return await buildImages(dockerfile, ['serve', 'try'], { context, folder, base });
}

/** A new volume: Docker gives it the owner of the image's folder. */
async function createVolume(): Promise<string> {
  const volume = await mkdtemp(join(work, 'volume-'));
  await chown(volume, NODE_ID, NODE_ID);
  return volume;
}

/** The size of a registry's download, in bytes. */
async function compressedBytes({ root: folder }: Image): Promise<number> {
  return Number(await run('sh', '-c', `tar --create --directory '${folder}' . | gzip | wc -c`));
}

async function untilReady(container: Container): Promise<string> {
  await until('the container', async () => {
    if (container.output().includes('Waybill is ready.')) return true;
    const ended = await Promise.race([container.ended.then(() => true), Promise.resolve(false)]);
    if (ended) throw new Error(container.output());
    return false;
  });
  expect(await container.isHealthy()).toBe(true);
  return container.output();
}

/** The ids of all deliveries. */
async function deliveries(container: Container): Promise<string[]> {
  const listed = await container.exec('waybill', 'deliveries', 'list', '--limit', '1000', '--json');
  return v
    .parse(v.array(v.object({ deliveryId: v.string() })), JSON.parse(listed))
    .map((each) => each.deliveryId);
}

const work = await folderOfFile('waybill-image-');
const first = await build('1.0.0');
const second = await build('1.0.1');

describe('the image try', () => {
  it('delivers on its own, and keeps everything in its volume: stopped, killed, upgraded', async () => {
    const volume = await createVolume();
    const before = await startContainer(first.try, { [DATA]: volume });
    onTestFinished(() => before.kill());
    const banner = await untilReady(before);
    expect(banner).toMatch(/API +http:\/\/127\.0\.0\.1:8080\/v21/);
    expect(banner).toMatch(/Demonstration +docker exec CONTAINER waybill demo --receive$/m);
    expect((await before.exec('id', '-u')).trim()).toBe(String(NODE_ID));
    await expect(before.exec('touch', '/app/file')).rejects.toThrow('Read-only file system');
    expect(await before.exec('waybill', 'demo', '--receive', '--orders', '3')).toMatch(/^all +(\d+) +\1$/m);

    // A second container on the volume would write into the databases of the first.
    const other = await startContainer(first.try, { [DATA]: volume });
    expect(await other.ended).toBe(1);
    expect(other.output()).toMatch(/in use by a Waybill that this one cannot see/);
    expect(await before.isHealthy()).toBe(true);

    const delivered = await deliveries(before);
    expect(delivered.length).toBeGreaterThan(0);
    expect(await before.stop()).toBe(0);
    expect(await readdir(volume)).not.toContain('lock');

    const after = await startContainer(second.try, { [DATA]: volume });
    onTestFinished(() => after.kill());
    const key = /x-api-key +(\S+)/.exec(banner)?.[1];
    expect(await untilReady(after)).toContain(key);
    expect(await deliveries(after)).toEqual(delivered);
    await after.kill();

    const again = await startContainer(second.try, { [DATA]: volume });
    onTestFinished(() => again.kill());
    await untilReady(again);
    expect(await again.exec('waybill', 'demo', '--receive', '--orders', '3')).toMatch(/^all +(\d+) +\1$/m);
    expect(await again.stop()).toBe(0);
  });
});

describe('the image serve', () => {
  it('is a download of less than 200 MB', async () => {
    expect(await compressedBytes(first.serve)).toBeLessThan(200e6);
  });

  it('delivers with a configured Postgres and Temporal, and with secrets in files', async () => {
    const installation = await createInstallation();
    onTestFinished(() => installation.remove());
    const { DATABASE_URL = '', SECRET_KEY = '', DATA_DIR, ...env } = installation.env;
    const secrets = await createVolume();
    for (const [name, value] of Object.entries({ DATABASE_URL, SECRET_KEY })) {
      await writeFile(join(secrets, name), `${value}\n`);
      await chown(join(secrets, name), NODE_ID, NODE_ID);
    }
    const files = { DATABASE_URL_FILE: '/mnt/DATABASE_URL', SECRET_KEY_FILE: '/mnt/SECRET_KEY' };
    const receiver = await createReceiver();
    onTestFinished(() => receiver.close());
    const server = await startContainer(
      first.serve,
      { [DATA]: 'tmpfs', '/mnt': secrets },
      { ...env, ...files, HOST: '127.0.0.1', PORT: '0', METRICS_PORT: String(await freePort()) },
      'host',
    );
    onTestFinished(() => server.kill());
    const [, url = ''] = /API +(http:\S+)\/v21/.exec(await untilReady(server)) ?? [];
    const client = await login(url, installation.credentials);
    const hook = { url: receiver.url, webhookType: 'CREATE_PRODUCT', active: true, method: 'POST' };
    expect((await client.request('POST', '/webhooks', hook)).statusCode).toBe(200);
    await client.request('POST', '/products', { sku: 'TEA', name: 'Tea' });
    await expect.poll(() => receiver.requests.length).toBe(1);
    expect(await server.stop()).toBe(0);
  });

  it('says in one sentence that it has no Postgres of its own', async () => {
    const server = await startContainer(first.serve, { [DATA]: 'tmpfs' });
    expect(await server.ended).toBe(1);
    expect(server.output()).toContain('There is no embedded Postgres here: set DATABASE_URL');
  });
});
