/** A lost master key: the secrets sealed under it are replaced (docs/interface.md, W20). */
import type { Settings } from '../config/variables.ts';
import type { ReplaceSigningKeys } from '../db/accounts/signing-keys.ts';
import type { Pool } from '../db/connection/pool.ts';
import type { ReplaceNoticeSecret } from '../db/notices/secrets.ts';
import { readSetting } from '../db/settings.ts';
import { type LostSecrets, replaceSecrets, type StoredSecrets } from '../db/webhooks/secrets.ts';
import type { DataDir } from '../embedded/data-dir.ts';
import { newWebhookSecret } from '../secrets/keys.ts';
import { newSealedPair } from '../secrets/signing-keys.ts';
import { resealing } from './key-rotation.ts';
import { CHECK_VALUE, configuredKeys, PREVIOUS_KEY_FILE } from './master-key.ts';

/**
 * Replaces webhooks' and notices' secrets and signing keys that no configured key opens: nobody knows the new secrets
 * until the e-shop regenerates them. Drops static headers that none opens. All others are resealed under the present
 * key, which becomes the database's. Each e-shop that lost something is to get one mail.
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
    const readable = { secret: reseal(secret), headers: reseal(headers) };
    const lostHeaders = headers !== null && readable.headers === null ? (headerNames ?? []) : [];
    return {
      ...readable,
      secret: readable.secret ?? keys.encryptSecret(newWebhookSecret(), owner),
      // A previous secret that no key opens no longer signs.
      previousSecret: reseal(previousSecret),
      lostSecret: readable.secret === null,
      lostHeaders,
    };
  }

  const replaceNotices: ReplaceNoticeSecret = ({ eshopId, secret }) => {
    const owner = { eshopId, of: 'notices' } as const;
    const readable = resealing(keys, owner)(secret);
    return { secret: readable ?? keys.encryptSecret(newWebhookSecret(), owner), lost: readable === null };
  };
  const replaceKeys: ReplaceSigningKeys = ({ eshopId, privateKey, previousPrivateKey }) => {
    const reseal = resealing(keys, { eshopId, of: 'signing key' });
    const readable = reseal(privateKey);
    return readable === null
      ? { ...newSealedPair(keys, eshopId), previousPrivateKey: null }
      : { privateKey: readable, previousPrivateKey: reseal(previousPrivateKey), publicKey: null };
  };

  const done = await replaceSecrets(sql, replace, {
    settings: { [CHECK_VALUE]: keys.checkValue },
    dryRun,
    replaceKeys,
    replaceNotices,
  });
  if (!dryRun && settings.SECRET_KEY === undefined) await dataDir.remove(PREVIOUS_KEY_FILE);
  return fits && done.length === 0 ? null : done;
}
