/** A master key that is lost: what was sealed under it is replaced (docs/interface.md, W20). */
import type { Settings } from '../config/variables.ts';
import type { Pool } from '../db/pool.ts';
import { readSetting } from '../db/settings.ts';
import { type LostSecrets, replaceSecrets, type StoredSecrets } from '../db/webhooks/secrets.ts';
import type { DataDir } from '../embedded/data-dir.ts';
import { newWebhookSecret } from '../secrets/keys.ts';
import { resealing } from './key-rotation.ts';
import { CHECK_VALUE, configuredKeys, PREVIOUS_KEY_FILE } from './master-key.ts';

/**
 * Gives every webhook whose secret no configured key opens a new one, which nobody knows until its e-shop regenerates it, and
 * drops static headers that none opens. What one opens is resealed under the present key. The key becomes that of the database,
 * and one mail per e-shop is owed.
 * @param dryRun only looks
 * @returns null when the database has this key and nothing is lost
 */
export async function replaceLostKey(
  sql: Pool,
  settings: Settings,
  dataDir: DataDir,
  dryRun: boolean,
): Promise<LostSecrets[] | null> {
  const keys = await configuredKeys(settings, dataDir);
  const fits = (await readSetting(sql, CHECK_VALUE)) === keys.checkValue;

  function replace({ id, eshopId, secret, headers, previousSecret, headerNames }: StoredSecrets) {
    const owner = { eshopId, webhookId: id };
    const anew = resealing(keys, owner);
    const kept = { secret: anew(secret), headers: anew(headers) };
    const lostHeaders = headers !== null && kept.headers === null ? (headerNames ?? []) : [];
    return {
      ...kept,
      secret: kept.secret ?? keys.encryptSecret(newWebhookSecret(), owner),
      // A previous one that no key opens signs nothing any more.
      previousSecret: anew(previousSecret),
      lost: kept.secret === null || lostHeaders.length > 0,
      lostHeaders,
    };
  }

  const done = await replaceSecrets(sql, replace, { settings: { [CHECK_VALUE]: keys.checkValue }, dryRun });
  if (!dryRun && settings.SECRET_KEY === undefined) await dataDir.remove(PREVIOUS_KEY_FILE);
  return fits && done.length === 0 ? null : done;
}
