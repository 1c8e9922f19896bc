/**
 * `waybill keys`: the master key under which webhook secrets are stored.
 * @module
 */
import { Command } from 'commander';
import { loadConfig, readSettings, type Settings } from '../config.ts';
import { openDataDir } from '../embedded/data-dir.ts';
import { type Rotation, rotateMasterKey } from '../key-rotation.ts';
import { CommandError, withDatabase } from './open-database.ts';
import { type CommandContext, checked, json, jsonSchema } from './options.ts';

/** What to do next, or what has been done. */
function sentence(rotation: Rotation, { SECRET_KEY }: Settings): string {
  switch (rotation.state) {
    case 'restartNeeded':
      return SECRET_KEY === undefined
        ? 'A new master key lies in DATA_DIR. Restart Waybill, then run this again: it seals all secrets anew.'
        : 'No Waybill has been started with this SECRET_KEY yet. Restart all of them with it, the key before in SECRET_KEY_PREVIOUS, then run this again.';
    case 'complete':
      return SECRET_KEY === undefined
        ? `The secrets of ${rotation.resealed} webhooks were sealed anew; the key before is no longer needed and gone.`
        : `The secrets of ${rotation.resealed} webhooks were sealed anew. Take SECRET_KEY_PREVIOUS away with the next restart.`;
    case 'incomplete':
      return (
        `The secrets of ${rotation.resealed} webhooks were sealed anew, but none of the keys opens those of webhook ` +
        `${rotation.unreadable.join(', ')}: add their key to SECRET_KEY_PREVIOUS, or regenerate them, and run this again.`
      );
  }
}

/** The command `keys` with its subcommand. */
export function keysCommand({ env, print }: CommandContext): Command {
  const command = new Command('keys').description('the master key under which webhook secrets are stored');
  command
    .command('rotate')
    .description('seal all webhook secrets under the new master key; may be broken off and run again')
    .addOption(json())
    .action(async (options: unknown) => {
      const wanted = checked(jsonSchema, options);
      // With a database of one's own there is no key in DATA_DIR to fall back to.
      const settings = env.DATABASE_URL ? loadConfig(env).settings : readSettings(env);
      const rotation = await withDatabase(settings, async (sql) =>
        rotateMasterKey(sql, settings, await openDataDir(settings.DATA_DIR)),
      );
      if (rotation.state === 'incomplete') throw new CommandError(sentence(rotation, settings));
      print(wanted.json ? JSON.stringify(rotation) : sentence(rotation, settings));
    });
  return command;
}
