/** The master key, from `SECRET_KEY` or made once in `DATA_DIR`, checked against the database's own record. */
import { randomBytes } from 'node:crypto';
import type { Settings } from '../config/variables.ts';
import type { Pool } from '../db/connection/pool.ts';
import { checkSetting, readSetting, writeSetting } from '../db/settings.ts';
import type { DataDir } from '../embedded/data-dir.ts';
import { UserError } from '../lib/user-error.ts';
import { createKeys, type Keys } from '../secrets/keys.ts';

/** The files in `DATA_DIR` with the generated key, and with the previous one while secrets are resealed. */
export const KEY_FILE = 'secret-key';
export const PREVIOUS_KEY_FILE = 'secret-key-previous';

/** The setting with the check value of the key that seals all secrets. */
export const CHECK_VALUE = 'masterKeyCheck';
/** The setting with the check value of a newer key with which a process has been started. */
export const NEXT_CHECK_VALUE = 'masterKeyNext';

/**
 * The keys in the settings, or those in the folder; a missing one is made there.
 * @param dataDir where a generated key is kept; used only without `SECRET_KEY`
 * @param sealing the check value of the one that seals; default: the present key
 */
export async function configuredKeys(settings: Settings, dataDir: DataDir, sealing?: string): Promise<Keys> {
  const bytes = await keyBytes(settings, dataDir);
  const withFirst = (first: Buffer) =>
    createKeys(
      first,
      bytes.filter((other) => other !== first),
    );
  return bytes.map(withFirst).find(({ checkValue }) => checkValue === sealing) ?? withFirst(bytes[0]);
}

/** The present key, and those before it or the next one. */
async function keyBytes(settings: Settings, dataDir: DataDir): Promise<readonly [Buffer, ...Buffer[]]> {
  if (settings.SECRET_KEY !== undefined) return [settings.SECRET_KEY, ...settings.SECRET_KEY_PREVIOUS];
  const present = await dataDir.readOrCreate(KEY_FILE, () => randomBytes(32).toString('base64'));
  const previous = await dataDir.read(PREVIOUS_KEY_FILE);
  const others = previous === undefined ? [] : [Buffer.from(previous, 'base64')];
  return [Buffer.from(present, 'base64'), ...others];
}

/** The error if the key is not that of the database. */
export function wrongKey(settings: Settings, dataDir: DataDir): UserError {
  return new UserError(
    settings.SECRET_KEY === undefined
      ? `SECRET_KEY is not set, and the key in ${dataDir.path} is not the one that this database was created with.`
      : 'SECRET_KEY is not the one that this database was created with. While it is being replaced, SECRET_KEY_PREVIOUS must contain the old one.',
  );
}

/**
 * The keys of a server process. A key newer than the database's is noted: then `waybill keys rotate` may reseal.
 * @throws UserError when the database was created with another key: its webhook secrets could not be read
 */
export async function masterKeys(sql: Pool, settings: Settings, dataDir: DataDir): Promise<Keys> {
  const keys = await configuredKeys(settings, dataDir);
  if (await checkSetting(sql, CHECK_VALUE, keys.checkValue)) return keys;
  const sealedWith = await readSetting(sql, CHECK_VALUE);
  if (sealedWith === null || !keys.otherCheckValues.includes(sealedWith)) throw wrongKey(settings, dataDir);
  await writeSetting(sql, NEXT_CHECK_VALUE, keys.checkValue);
  return keys;
}

/**
 * Checks the key given to a command, or else that in the folder. If there is neither, there is nothing to check.
 * @throws UserError when the database was created with another key: e-shops' secrets could not be read
 */
export async function checkKey(sql: Pool, settings: Settings, dataDir: DataDir): Promise<void> {
  const storedKey = settings.DATABASE_URL === undefined ? await dataDir.read(KEY_FILE) : undefined;
  if (settings.SECRET_KEY !== undefined || storedKey !== undefined) await commandKeys(sql, settings, dataDir);
}

/**
 * The keys of a command that runs beside the server processes. It makes no note: nothing is resealed for it.
 * @throws UserError when the database was created with another key
 */
export async function commandKeys(sql: Pool, settings: Settings, dataDir: DataDir): Promise<Keys> {
  const keys = await configuredKeys(settings, dataDir);
  const sealedWith = await readSetting(sql, CHECK_VALUE);
  if (sealedWith === null || sealedWith === keys.checkValue) return keys;
  if (!keys.otherCheckValues.includes(sealedWith)) throw wrongKey(settings, dataDir);
  // Before a process has been started with the new key, none could open anything sealed with it.
  const isKnown = (await readSetting(sql, NEXT_CHECK_VALUE)) === keys.checkValue;
  return isKnown ? keys : await configuredKeys(settings, dataDir, sealedWith);
}
