/** `waybill keys`: the master key under which webhook secrets are stored. */
import { Command } from 'commander';
import { type Rotation, rotateMasterKey } from '../app/key-rotation.ts';
import { loadConfig, readSettings } from '../config/config.ts';
import type { Settings } from '../config/variables.ts';
import { openDataDir } from '../embedded/data-dir.ts';
import { type CommandContext, checked, json, jsonSchema } from '../lib/command-line.ts';
import { UserError } from '../lib/user-error.ts';
import { withDatabase } from './open-database.ts';

const webhooks = (count: number) => (count === 1 ? '1 webhook' : `${count} webhooks`);

/** Why to restart once all is resealed: a process keeps the keys that it was started with. */
const tokensBefore = 'Restart Waybill now: until then, tokens signed with the key before are still accepted.';

/** What to do next, or what has been done. */
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
        `${rotation.unreadable.length === 1 ? 'webhook' : 'webhooks'} ${rotation.unreadable.join(', ')}: ` +
        'add the missing key to SECRET_KEY_PREVIOUS, or regenerate these secrets and send their static headers anew, and run this again.'
      );
  }
}

export function keysCommand({ env, print }: CommandContext): Command {
  const command = new Command('keys');
  command
    .command('rotate')
    .description('reseal all webhook secrets under the new master key; may be interrupted and run again')
    .addOption(json())
    .action(async (options: unknown) => {
      const wanted = checked(jsonSchema, options);
      // With a database of one's own there is no key in DATA_DIR to fall back to.
      const settings = env.DATABASE_URL ? loadConfig(env).settings : readSettings(env);
      const rotation = await withDatabase(settings, async (sql) =>
        rotateMasterKey(sql, settings, await openDataDir(settings.DATA_DIR)),
      );
      if (rotation.state === 'incomplete' || rotation.state === 'nothingToDo')
        throw new UserError(summary(rotation, settings));
      print(wanted.json ? JSON.stringify(rotation) : summary(rotation, settings));
    });
  return command;
}
