/** A lost master key: the secrets sealed under it are replaced (docs/interface.md, W20). */
import type { Settings } from '../config/variables.ts';
import { resealNoticeSecrets } from '../db/notices/secrets.ts';
import type { Pool } from '../db/pool.ts';
import { readSetting } from '../db/settings.ts';
import type { ReplaceSigningKeys } from '../db/signing-keys.ts';
import { type LostSecrets, replaceSecrets, type StoredSecrets } from '../db/webhooks/secrets.ts';
import type { DataDir } from '../embedded/data-dir.ts';
import { newWebhookSecret } from '../secrets/keys.ts';
import { newSealedPair } from '../secrets/signing-keys.ts';
import { BATCH, resealing } from './key-rotation.ts';
import { CHECK_VALUE, configuredKeys, PREVIOUS_KEY_FILE } from './master-key.ts';

/**
 * Replaces webhooks' and notices' secrets and signing keys that no configured key opens: nobody knows the new secrets
 * until the e-shop regenerates them. Drops static headers that none opens. All others are resealed under the present
 * key, which becomes the database's. Each e-shop that lost more than the secret of its notices is to get one mail.
 * @param dryRun changes nothing
 * @returns null if the database has this key and nothing is lost
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
    const reseal = resealing(keys, owner);
    const kept = { secret: reseal(secret), headers: reseal(headers) };
    const lostHeaders = headers !== null && kept.headers === null ? (headerNames ?? []) : [];
    return {
      ...kept,
      secret: kept.secret ?? keys.encryptSecret(newWebhookSecret(), owner),
      // A previous secret that no key opens no longer signs.
      previousSecret: reseal(previousSecret),
      lostSecret: kept.secret === null,
      lostHeaders,
    };
  }

  if (!dryRun) {
    await resealNoticeSecrets(sql, BATCH, ({ eshopId, secret }) => {
      const owner = { eshopId, of: 'notices' } as const;
      return resealing(keys, owner)(secret) ?? keys.encryptSecret(newWebhookSecret(), owner);
    });
  }
  const replaceKeys: ReplaceSigningKeys = ({ eshopId, privateKey, previousPrivateKey }) => {
    const reseal = resealing(keys, { eshopId, of: 'signing key' });
    const kept = reseal(privateKey);
    return kept === null
      ? { ...newSealedPair(keys, eshopId), previousPrivateKey: null }
      : { privateKey: kept, previousPrivateKey: reseal(previousPrivateKey), publicKey: null };
  };

  const done = await replaceSecrets(sql, replace, {
    settings: { [CHECK_VALUE]: keys.checkValue },
    dryRun,
    replaceKeys,
  });
  if (!dryRun && settings.SECRET_KEY === undefined) await dataDir.remove(PREVIOUS_KEY_FILE);
  return fits && done.length === 0 ? null : done;
}
