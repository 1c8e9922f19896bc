/** Another user of the machine plants files in `DATA_DIR`. */
import { chmod, chown, lchown, mkdir, readdir, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { loadConfig } from '../../src/config/config.ts';
import { dataDirAt, openDataDir } from '../../src/embedded/data-dir.ts';
import { startEmbedded } from '../../src/embedded/index.ts';
import { requireOwnFolder } from '../../src/embedded/own-files.ts';
import { createShutdown } from '../../src/lib/shutdown.ts';
import { UserError } from '../../src/lib/user-error.ts';
import { folderOfTest } from '../support/ends.ts';

const ME = process.getuid?.() ?? 0;
const STRANGER = 54_321;
/** Only root can give files away. */
const IS_ROOT = ME === 0;

let directory: string;
let path: string;
beforeEach(async () => {
  directory = await folderOfTest('waybill-planted-');
  path = join(directory, '.waybill');
  for (const folder of ['postgres', 'postgres-new'])
    await mkdir(join(path, folder), { recursive: true, mode: 0o700 });
  for (const file of ['secret-key', 'postgres-password', 'postgres/postgresql.auto.conf'])
    await writeFile(join(path, file), '', { mode: 0o600 });
});

const mode = async (file: string) => (await stat(file)).mode & 0o777;
const refused = async (checked: Promise<void>) => {
  await expect(checked).rejects.toBeInstanceOf(UserError);
  return await checked.catch(String);
};

describe('a start', () => {
  it('accepts our own folder, whatever else it contains', async () => {
    await writeFile(join(path, 'letter.txt'), '');
    await chmod(path, 0o755);
    await requireOwnFolder(path, undefined);
    expect(await mode(path)).toBe(0o755);
  });

  it('refuses another user’s folder, with path, owner, mode and remedies', async () => {
    // To somebody else who is not root, our folder is another user's.
    const me = ME === 0 ? STRANGER : ME + 1;
    if (ME === 0) await chown(path, STRANGER + 1, STRANGER + 1);
    const owner = ME === 0 ? STRANGER + 1 : ME;
    expect(await refused(requireOwnFolder(path, undefined, me))).toContain(
      `DATA_DIR: ${path} belongs to user ${owner} (mode 0700), not to user ${me}, as which Waybill runs: `,
    );
    expect(await refused(requireOwnFolder(path, undefined, me))).toContain(`chown -R ${me} '${path}'`);
  });

  it
    .runIf(IS_ROOT)
    .each(['secret-key', 'postgres-password', 'postgres', 'postgres/postgresql.auto.conf', 'postgres-new'])(
    'refuses another user’s %s',
    async (name) => {
      await chown(join(path, name), STRANGER, STRANGER);
      expect(await refused(requireOwnFolder(path, undefined))).toContain(
        `${join(path, name)} belongs to user ${STRANGER} `,
      );
      // The user that the servers run as has its own folders, not the keys.
      const guest = requireOwnFolder(path, STRANGER);
      if (/^postgres(-new)?(\/|$)/.test(name)) await guest;
      else await refused(guest);
    },
  );

  it.runIf(IS_ROOT)('refuses a folder behind another user’s link', async () => {
    const link = join(directory, 'link');
    await symlink(path, link);
    await requireOwnFolder(link, undefined);
    await rm(link);
    await symlink(path, link);
    await lchown(link, STRANGER, STRANGER);
    expect(await refused(requireOwnFolder(link, undefined))).toContain(
      `${link} belongs to user ${STRANGER} `,
    );
  });

  it('closes a folder that others can write if it is the instance’s alone, or refuses it', async () => {
    await chmod(path, 0o777);
    await requireOwnFolder(path, undefined);
    expect(await mode(path)).toBe(0o755);
    await chmod(path, 0o777);
    await writeFile(join(path, 'letter.txt'), '');
    const message = await refused(requireOwnFolder(path, undefined));
    expect(message).toContain(`${path} can be written by other users (mode 0777)`);
    expect(message).toContain(`chmod -R go-w '${path}'`);
    expect(await mode(path)).toBe(0o777);
  });

  it.runIf(IS_ROOT)(
    'refuses a folder into which another user plants something while it is being closed',
    async () => {
      await chmod(path, 0o777);
      const planted = join(path, 'temporal');
      // At the last moment before the folder is closed.
      const close: typeof chmod = async (...closed) => {
        await mkdir(planted);
        await chown(planted, STRANGER, STRANGER);
        await chmod(...closed);
      };
      const message = await refused(requireOwnFolder(path, undefined, ME, close));
      expect(message).toContain(`${planted} belongs to user ${STRANGER} `);
    },
  );

  it('refuses a key that others can write', async () => {
    await chmod(join(path, 'secret-key'), 0o622);
    expect(await refused(requireOwnFolder(path, undefined))).toContain(
      `${join(path, 'secret-key')} can be written by other users (mode 0622)`,
    );
  });

  it.runIf(IS_ROOT)('in a planted folder ends before anything runs or changes', async () => {
    await writeFile(join(path, 'letter.txt'), '');
    await chmod(path, 0o777);
    await chown(path, STRANGER, STRANGER);
    const before = await readdir(path, { recursive: true });
    const starting = startEmbedded(
      loadConfig({ DATA_DIR: path }),
      () => {},
      createShutdown(() => {}),
    );
    await expect(starting).rejects.toThrow(`${path} belongs to user ${STRANGER} (mode 0777)`);
    expect(await readdir(path, { recursive: true })).toEqual(before);
  });
});

it.runIf(IS_ROOT)('another user’s file is not read, even if planted later', async () => {
  const dataDir = await openDataDir(path);
  expect(await dataDir.read('secret-key')).toBe('');
  await chown(join(path, 'secret-key'), STRANGER, STRANGER);
  await expect(dataDir.readOrCreate('secret-key', () => 'new')).rejects.toThrow(
    `${join(path, 'secret-key')} belongs to user ${STRANGER} `,
  );
});

it.runIf(IS_ROOT)('root’s commands read another user’s instance', async () => {
  await chown(join(path, 'secret-key'), STRANGER, STRANGER);
  expect(await dataDirAt(path).read('secret-key')).toBe('');
});
