/** `waybill keys`: the master key under which webhook secrets are stored. */
import type { Command } from 'commander';
import * as v from 'valibot';
import { type Rotation, rotateMasterKey } from '../app/key-rotation.ts';
import { replaceLostKey } from '../app/lost-key.ts';
import { loadConfig, readSettings } from '../config/config.ts';
import type { Settings } from '../config/variables.ts';
import { isMailed, type LostSecrets } from '../db/webhooks/secrets.ts';
import { counted } from '../domain/text.ts';
import { dataDirAt } from '../embedded/data-dir.ts';
import { type CommandContext, flag, noOptions, runs, subcommands } from '../lib/command-line.ts';
import { UserError } from '../lib/user-error.ts';
import { withDatabase, withStoppedDatabase } from './open-database.ts';
import { confirmationOptions, isDryRun } from './options.ts';

const webhooks = (count: number) => counted(count, 'webhook');

/** Why to restart after resealing: a process keeps the keys that it was started with. */
const tokensBefore =
  'Restart Waybill now: until then, tokens signed with the previous key are still accepted.';

/** The result, and the next step. */
function summary(rotation: Rotation, { SECRET_KEY }: Settings): string {
  switch (rotation.state) {
    case 'restartNeeded':
      return SECRET_KEY === undefined
        ? 'A new master key is in DATA_DIR. Restart Waybill, then run this again to reseal all secrets.'
        : 'No Waybill process has been started with this SECRET_KEY yet. Restart all of them with it and with the old key in SECRET_KEY_PREVIOUS, then run this again.';
    case 'complete':
      return SECRET_KEY === undefined
        ? `The secrets of ${webhooks(rotation.resealed)} were resealed; the old key was no longer needed and has been deleted. ${tokensBefore}`
        : `The secrets of ${webhooks(rotation.resealed)} were resealed. Remove SECRET_KEY_PREVIOUS. ${tokensBefore}`;
    case 'nothingToDo':
      return 'There is nothing to rotate: all secrets are sealed under this key already. To replace it, set the new one in SECRET_KEY and the old one in SECRET_KEY_PREVIOUS.';
    case 'incomplete':
      return (
        `The secrets of ${webhooks(rotation.resealed)} were resealed, but none of the keys opens those of ` +
        `${unreadableOf(rotation).join(' and ')}: ` +
        'add the missing key to SECRET_KEY_PREVIOUS, or regenerate these secrets and send their static headers again (a signing key: POST /eshop/signing-keys?overlap=0), and run this again.'
      );
  }
}

/** "webhooks 7, 8", "the notices of e-shop 3" */
function unreadableOf(rotation: Extract<Rotation, { state: 'incomplete' }>): string[] {
  const listOf = (noun: string, ids: readonly number[]) =>
    ids.length === 0 ? [] : [`${noun}${ids.length === 1 ? '' : 's'} ${ids.join(', ')}`];
  return [
    ...listOf('webhook', rotation.unreadable),
    ...listOf('the notices of e-shop', rotation.unreadableNotices),
    ...listOf('the signing key of e-shop', rotation.unreadableKeys),
  ];
}

const replaceOptions = v.object({ lost: flag('--lost', 'the key is lost'), ...confirmationOptions });

/** "E-shop 3 (Shop, mail@shop.example): webhooks 7 (secret; static headers: X-Gateway-Key), 8 (signing key)" */
function losses({ eshopId, name, email, webhooks, notices }: LostSecrets): string {
  const each = webhooks.map(({ id, secret, headers, signingKey }) => {
    const what = [
      ...(secret ? ['secret'] : []),
      ...(headers.length === 0 ? [] : [`static headers: ${headers.join(', ')}`]),
      ...(signingKey ? ['signing key'] : []),
    ];
    return `${id} (${what.join('; ')})`;
  });
  const what = [
    ...(each.length === 0 ? [] : [`${each.length === 1 ? 'webhook' : 'webhooks'} ${each.join(', ')}`]),
    ...(notices ? ['notices (secret)'] : []),
  ];
  return `E-shop ${eshopId} (${name}, ${email}): ${what.join('; ') || 'a signing key that no webhook signs with'}`;
}

export function keysCommand(command: Command, { env, print }: CommandContext): void {
  const part = subcommands(command, {
    rotate: 'reseal all webhook secrets under the new master key; may be interrupted and run again',
    replace:
      'after the master key was lost: replace the secrets and signing keys that nothing opens, and mail each e-shop concerned',
  });
  runs(part('rotate'), noOptions, async ({ json }) => {
    // With a configured database there is no fallback to a key in DATA_DIR.
    const settings = env.DATABASE_URL ? loadConfig(env).settings : readSettings(env);
    const rotation = await withDatabase(settings, (sql) =>
      rotateMasterKey(sql, settings, dataDirAt(settings.DATA_DIR)),
    );
    if (rotation.state === 'incomplete' || rotation.state === 'nothingToDo')
      throw new UserError(summary(rotation, settings));
    print(json ? JSON.stringify(rotation) : summary(rotation, settings));
  });
  runs(part('replace'), replaceOptions, async ({ lost, json, ...sure }) => {
    if (!lost) {
      throw new UserError(
        'This is for a lost key: confirm that with --lost. To replace a key that you have, use waybill keys rotate.',
      );
    }
    const dryRun = isDryRun(sure);
    const settings = env.DATABASE_URL ? loadConfig(env).settings : readSettings(env);
    const eshops = await withStoppedDatabase(settings, (sql) =>
      replaceLostKey(sql, settings, dataDirAt(settings.DATA_DIR), dryRun),
    );
    if (eshops === null) {
      throw new UserError(
        "Nothing is lost: this is the database's key, and it opens all secrets and signing keys.",
      );
    }
    if (json) return print(JSON.stringify({ dryRun, eshops }));
    for (const eshop of eshops) print(losses(eshop));
    const noticesLost = eshops.filter(({ notices }) => notices).length;
    const replaced =
      webhooks(eshops.reduce((sum, each) => sum + each.webhooks.length, 0)) +
      (noticesLost === 0 ? '' : `, and of the notices of ${counted(noticesLost, 'e-shop')},`);
    print(
      dryRun
        ? `The lost secrets and keys of ${replaced} would be replaced. Nothing was changed (dry run).`
        : `The lost secrets and keys of ${replaced} were replaced, and this is the database's key from now on. Start Waybill: it mails ${counted(eshops.filter(isMailed).length, 'e-shop')}.`,
    );
  });
}
