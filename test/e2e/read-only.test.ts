/** As in the image: no rights, and only DATA_DIR writable. In its own mount namespace, so only for root on Linux. */
import { execFileSync, spawnSync } from 'node:child_process';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { login } from '../support/api/client.ts';
import { folderOfTest } from '../support/ends.ts';
import { builtCli } from '../support/programs/built.ts';
import { createInstallation } from '../support/programs/installation.ts';
import { startProgram } from '../support/programs/program.ts';
import { createReceiver } from '../support/servers/receiver.ts';

/** `nobody` on most systems. */
const NOBODY = 65_534;
/** A folder like an `emptyDir` that Kubernetes makes for a group, or a `tmpfs` of compose. */
const FOLDER = `size=16m,mode=2770,uid=0,gid=${NOBODY}`;

/** A command that executes the one after its own arguments, as that user. */
const within = (writable: string): string[] => [
  ...['unshare', '--mount', 'sh', '-euc'],
  `mount --make-rprivate /
  mount -t tmpfs -o ${FOLDER} tmpfs "$0"
  mount -o remount,bind,ro /
  exec setpriv --reuid=${NOBODY} --regid=${NOBODY} --clear-groups --no-new-privs --bounding-set=-all --inh-caps=-all "$@"`,
  writable,
];
const [unshare = '', ...asking] = within(tmpdir());
const possible = spawnSync(unshare, [...asking, 'true']).status === 0;

it.skipIf(!possible)(
  'both roles and the command work if only DATA_DIR can be written to',
  async ({ onTestFinished }) => {
    const directory = await folderOfTest('waybill-image-');
    const installation = await createInstallation();
    onTestFinished(() => installation.remove());
    const receiver = await createReceiver();
    onTestFinished(() => receiver.close());
    const env = {
      ...installation.env,
      NODE_ENV: 'production',
      DATA_DIR: directory,
      HOME: '/nonexistent',
      TMPDIR: '/nonexistent',
      XDG_CACHE_HOME: '/nonexistent',
      METRICS_PORT: '0',
    };
    const [command = '', ...words] = within(directory);
    const tried = spawnSync(command, [...words, 'touch', 'here', '/tmp/there', join(directory, 'where')], {
      encoding: 'utf8',
    });
    expect(tried.stderr.match(/Read-only file system/g)).toHaveLength(2);

    const programs = [];
    for (const ROLE of ['worker', 'api']) {
      const program = await startProgram({ ...env, ROLE }, 120_000, undefined, within(directory));
      onTestFinished(() => program.kill());
      programs.push(program);
    }
    const shop = await login(programs[1]?.url ?? '', installation.credentials);
    const webhook = { url: receiver.url, webhookType: 'CREATE_ORDER', active: true, method: 'POST' };
    expect((await shop.request('POST', '/webhooks', webhook)).statusCode).toBe(200);
    expect((await shop.createOrder('10001')).statusCode).toBe(200);
    await receiver.waitFor(1);
    const eshops = execFileSync(command, [...words, process.execPath, builtCli, 'eshop', 'list'], {
      env: { PATH: process.env.PATH, ...env },
      encoding: 'utf8',
    });
    expect(eshops).toContain('shop@example.test');
    for (const program of programs) {
      expect(await program.stop()).toBe(0);
      expect(program.output()).not.toMatch(/EROFS|EACCES|read-only/i);
    }
  },
);
