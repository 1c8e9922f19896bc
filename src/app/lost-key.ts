/** A lost master key: the secrets sealed under it are replaced (docs/interface.md, W20). */
import type { Settings } from '../config/variables.ts';
import { findEshop } from '../db/accounts/eshops.ts';
import { replaceSigningKey } from '../db/accounts/signing-keys.ts';
import type { Pool } from '../db/connection/pool.ts';
import { sealedNoticeSecrets } from '../db/notices/secrets.ts';
import { resealing } from '../db/reseal.ts';
import { readSetting, writeSetting } from '../db/settings.ts';
import { type Transaction, transaction } from '../db/transaction.ts';
import {
  addLossNotice,
  findConcerned,
  forgetHeaderNames,
  isMailed,
  type LostSecrets,
  sealedWebhooks,
} from '../db/webhooks/secrets.ts';
import type { DataDir } from '../embedded/data-dir.ts';
import { type Keys, newWebhookSecret } from '../secrets/keys.ts';
import { newSealedPair } from '../secrets/signing-keys.ts';
import { resealAll } from './key-rotation.ts';
import { CHECK_VALUE, configuredKeys, PREVIOUS_KEY_FILE } from './master-key.ts';

/**
 * Replaces webhooks' and notices' secrets and signing keys that no configured key opens: nobody knows the new
 * secrets, so the e-shop has to regenerate them. Drops static headers that none opens. All others are resealed under
 * the present key, which becomes the database's. Each affected e-shop gets one mail. All in one transaction.
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
  const done = await transaction(sql, async (tx) => {
    const losses = await replaceUnreadable(tx, keys, dryRun);
    if (dryRun) return losses;
    for (const loss of losses.filter(isMailed)) await addLossNotice(tx, loss);
    await writeSetting(tx, CHECK_VALUE, keys.checkValue);
    return losses;
  });
  if (!dryRun && settings.SECRET_KEY === undefined) await dataDir.remove(PREVIOUS_KEY_FILE);
  return fits && done.length === 0 ? null : done;
}

/** @returns the e-shops that lost something */
async function replaceUnreadable(tx: Transaction, keys: Keys, dryRun: boolean): Promise<LostSecrets[]> {
  const { unreadable, unreadableNotices, unreadableKeys } = await resealAll(tx, keys, {
    dryRun,
    evenPresent: true,
  });
  const lost = new Map<number, LostSecrets['webhooks']>();
  for (const eshopId of [...unreadableNotices, ...unreadableKeys]) lost.set(eshopId, []);
  for (const { headerNames, signingKey, ...webhook } of await findConcerned(tx, unreadable, unreadableKeys)) {
    const { id, eshopId } = webhook;
    const owner = { eshopId, webhookId: id };
    const reseal = resealing(keys, owner);
    const [secret, headers] = [reseal(webhook.secret), reseal(webhook.headers)];
    const headersLost = headers === null ? [...(headerNames ?? [])] : [];
    const loss = { id, secret: secret === null, headers: headersLost, signingKey };
    lost.set(eshopId, [...(lost.get(eshopId) ?? []), loss]);
    if (dryRun) continue;
    const present = secret ?? keys.encryptSecret(newWebhookSecret(), owner);
    // A previous secret that no key opens no longer signs.
    await sealedWebhooks.write(tx, webhook, [present, headers], reseal(webhook.previousSecret));
    await forgetHeaderNames(tx, id);
  }
  if (!dryRun) {
    for (const eshopId of unreadableKeys)
      await replaceSigningKey(tx, eshopId, newSealedPair(keys, eshopId), false);
    for (const eshopId of unreadableNotices) {
      const secret = keys.encryptSecret(newWebhookSecret(), { eshopId, of: 'notices' });
      await sealedNoticeSecrets.write(tx, { eshopId, secret }, [secret], null);
    }
  }
  const losses: LostSecrets[] = [];
  for (const [eshopId, webhooks] of lost) {
    const { name = '', email = '' } = (await findEshop(tx, eshopId)) ?? {};
    losses.push({ eshopId, name, email, webhooks, notices: unreadableNotices.includes(eshopId) });
  }
  return losses;
}
