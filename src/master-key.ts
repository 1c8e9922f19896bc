/**
 * The master key: from `SECRET_KEY`, or made once in `DATA_DIR`, and checked against the database's own record of it.
 * @module
 */
import { randomBytes } from 'node:crypto';
import { type Config, ConfigError } from './config.ts';
import type { Pool } from './db/pool.ts';
import { checkSetting } from './db/settings.ts';
import type { DataDir } from './embedded/data-dir.ts';
import { createKeys, type Keys } from './keys.ts';

/**
 * @throws ConfigError when the database was made with another key: its webhook secrets could not be read
 */
export async function masterKeys(sql: Pool, config: Config, dataDir: DataDir): Promise<Keys> {
  const configured = config.settings.SECRET_KEY;
  const key =
    configured ??
    Buffer.from(await dataDir.remember('secret-key', () => randomBytes(32).toString('base64')), 'base64');
  const keys = createKeys(key);
  if (!(await checkSetting(sql, 'masterKeyCheck', keys.checkValue))) {
    throw new ConfigError(
      configured === undefined
        ? `SECRET_KEY is not set, and the key in ${dataDir.path} is not the one that this database was made with.`
        : 'SECRET_KEY is not the one that this database was made with.',
    );
  }
  return keys;
}
