/**
 * A stranger has published packages named like our commands: no line that we show to people runs them, in a terminal
 * or in CI, not even where nothing of Waybill is installed.
 */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, expect, it } from 'vitest';
import { folderOfFile } from '../support/ends.ts';
import { listenLocally } from '../support/ports.ts';
import { shownCommands } from '../support/shown-texts.ts';

const NAMES = ['waybill', 'waybill-receiver'];
/** Left by a stranger's package that ran. */
const mark = () => join(folder, 'ran');

/** What the registry has of a name: its document, and the archive. */
async function published(name: string): Promise<{ readonly document: string; readonly archive: Buffer }> {
  const source = join(folder, name);
  await mkdir(source);
  const manifest = { name, version: '9.9.9', bin: { [name]: 'run.js' } };
  await writeFile(join(source, 'package.json'), JSON.stringify(manifest));
  const program = `#!/usr/bin/env node\nrequire('node:fs').writeFileSync(${JSON.stringify(mark())}, '');\n`;
  await writeFile(join(source, 'run.js'), program);
  await promisify(execFile)('npm', ['pack', '--silent'], { cwd: source });
  const archive = await readFile(join(source, `${name}-9.9.9.tgz`));
  const integrity = `sha512-${createHash('sha512').update(archive).digest('base64')}`;
  const dist = { tarball: `${address}/${name}.tgz`, integrity };
  const version = { ...manifest, dist };
  return {
    document: JSON.stringify({ name, 'dist-tags': { latest: '9.9.9' }, versions: { '9.9.9': version } }),
    archive,
  };
}

const folder = await folderOfFile('waybill-strangers-');
const served = new Map<string, string | Buffer>();
const registry = createServer((request, response) => {
  const found = served.get(request.url ?? '');
  response.writeHead(found === undefined ? 404 : 200).end(found ?? '{}');
});
const address: string = `http://127.0.0.1:${await listenLocally(registry)}`;
for (const name of NAMES) {
  const { document, archive } = await published(name);
  served.set(`/${name}`, document).set(`/${name}.tgz`, archive);
}
afterAll(async () => {
  registry.closeAllConnections();
  registry.close();
});

/** Types a line, in an empty folder; answers what it says, and whether a stranger's package ran. */
async function typed(line: string, where: 'terminal' | 'CI'): Promise<{ ran: boolean; said: string }> {
  const cwd = await mkdtemp(join(folder, 'empty-'));
  const env = {
    PATH: process.env.PATH,
    HOME: cwd,
    npm_config_registry: address,
    npm_config_cache: join(cwd, 'cache'),
    npm_config_update_notifier: 'false',
    ...(where === 'CI' ? { CI: '1' } : {}),
  };
  // A terminal whose user accepts every question: with Enter. More of them would keep the terminal busy for a minute.
  const accepting = 'yes "" | head --lines 20 | script --quiet --return --command "$0" /dev/null';
  const args = where === 'CI' ? ['-c', line] : ['-c', accepting, line];
  const said = await promisify(execFile)('bash', args, { cwd, env }).then(
    ({ stdout, stderr }) => stdout + stderr,
    (error) => `${error.stdout}${error.stderr}`,
  );
  const ran = existsSync(mark());
  await rm(mark(), { force: true });
  return { ran, said };
}

it.each(['terminal', 'CI'] as const)("in a %s, npx would run a stranger's package", async (where) => {
  expect(await typed('npx waybill demo', where)).toMatchObject({ ran: true });
});

const lines = shownCommands();
it('there are lines to try', () => {
  for (const name of NAMES)
    expect(lines.filter((line) => line.includes(`npx --no ${name} `))).not.toEqual([]);
});
it.each(lines.flatMap((line) => [[line, 'terminal'] as const, [line, 'CI'] as const]))(
  '%s, in a %s',
  async (line, where) => {
    const { ran, said } = await typed(line, where);
    expect(ran).toBe(false);
    expect(said).toContain('npx canceled due to missing packages');
  },
);
