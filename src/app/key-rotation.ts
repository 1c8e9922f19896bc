/**
 * A new master key for the stored secrets, resealed batch by batch while the instance runs. May be interrupted and
 * repeated: secrets sealed under the new key are left alone.
 */
import { randomBytes } from 'node:crypto';
import type { Settings } from '../config/variables.ts';
import { sealedSigningKeys } from '../db/accounts/signing-keys.ts';
import type { Pool } from '../db/connection/pool.ts';
import { sealedNoticeSecrets } from '../db/notices/secrets.ts';
import { type ResealOptions, resealRows } from '../db/reseal.ts';
import { readSetting, writeSetting } from '../db/settings.ts';
import { sealedResponses } from '../db/stored-responses.ts';
import type { Database } from '../db/transaction.ts';
import { sealedWebhooks } from '../db/webhooks/secrets.ts';
import type { DataDir } from '../embedded/data-dir.ts';
import type { Keys } from '../secrets/keys.ts';
import {
  CHECK_VALUE,
  configuredKeys,
  KEY_FILE,
  NEXT_CHECK_VALUE,
  PREVIOUS_KEY_FILE,
  wrongKey,
} from './master-key.ts';

export type Rotation = Awaited<ReturnType<typeof rotateMasterKey>>;

/**
 * Reseals everything that is stored sealed.
 * @returns how many webhooks were resealed; the webhooks whose secrets no key opens, and the e-shops whose notices'
 * secrets or signing keys none opens
 */
export async function resealAll(sql: Database, keys: Keys, options: ResealOptions = {}) {
  const unreadable: number[] = [];
  const unreadableNotices: number[] = [];
  const unreadableKeys: number[] = [];
  const resealed = await resealRows(sql, sealedWebhooks, keys, options, ({ id, deleted }) => {
    if (!deleted) unreadable.push(id);
  });
  // One that no key opens stays: its request is not repeated (`src/api/idempotency.ts`). One under the present key is
  // not opened: there may be many, and they last for a day.
  await resealRows(sql, sealedResponses, keys, { ...options, evenPresent: false });
  await resealRows(sql, sealedNoticeSecrets, keys, options, ({ eshopId }) => unreadableNotices.push(eshopId));
  await resealRows(sql, sealedSigningKeys, keys, options, ({ eshopId }) => unreadableKeys.push(eshopId));
  return { resealed, unreadable, unreadableNotices, unreadableKeys };
}

/** Makes a new key in the folder, unless one is waiting there. @returns whether it was made now */
async function prepareGeneratedKey(dataDir: DataDir): Promise<boolean> {
  const present = await dataDir.read(KEY_FILE);
  const previous = await dataDir.read(PREVIOUS_KEY_FILE);
  // The same key twice: this was interrupted between the two files.
  if (present === undefined || (previous !== undefined && previous !== present)) return false;
  // In this order: if it is interrupted in between, the old key is still the current one, and nothing is lost.
  await dataDir.write(PREVIOUS_KEY_FILE, present);
  await dataDir.write(KEY_FILE, randomBytes(32).toString('base64'));
  return true;
}

/**
 * Reseals the secrets under the present master key: the one in `SECRET_KEY`, with the old one in
 * `SECRET_KEY_PREVIOUS`; without these, a new one in the folder.
 * @throws UserError when the database's key is none of them
 */
export async function rotateMasterKey(sql: Pool, settings: Settings, dataDir: DataDir) {
  const generated = settings.SECRET_KEY === undefined;
  // Waybill has to be started with it before anything is sealed under it.
  if (generated && (await prepareGeneratedKey(dataDir))) return { state: 'restartNeeded' } as const;
  const keys = await configuredKeys(settings, dataDir);
  const sealedWith = await readSetting(sql, CHECK_VALUE);
  const isCurrent = sealedWith === keys.checkValue;
  if (!isCurrent && (sealedWith === null || !keys.otherCheckValues.includes(sealedWith))) {
    throw wrongKey(settings, dataDir);
  }
  // A process that has only the old key could not open secrets sealed from here on.
  if (!isCurrent && (await readSetting(sql, NEXT_CHECK_VALUE)) !== keys.checkValue) {
    return { state: 'restartNeeded' } as const;
  }
  const done = await resealAll(sql, keys);
  const { resealed, unreadable, unreadableNotices, unreadableKeys } = done;
  if (unreadable.length + unreadableNotices.length + unreadableKeys.length > 0)
    return { state: 'incomplete', ...done } as const;
  // The database has this key already, and nothing was sealed under another.
  const nothing = isCurrent && resealed === 0 && keys.otherCheckValues.length === 0;
  if (nothing) return { state: 'nothingToDo' } as const;
  await writeSetting(sql, CHECK_VALUE, keys.checkValue);
  if (generated) await dataDir.remove(PREVIOUS_KEY_FILE);
  return { state: 'complete', resealed } as const;
}
