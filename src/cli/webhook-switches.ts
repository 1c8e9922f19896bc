/** `waybill webhooks activate|deactivate`: as the API does it, so that the open deliveries are told. */
import type { Command } from 'commander';
import { readSettings } from '../config/config.ts';
import { switchWebhook } from '../db/webhooks/switch.ts';
import { type CommandContext, checked, json, jsonSchema } from '../lib/command-line.ts';
import { withDatabase } from './open-database.ts';
import { noSuchWebhook, webhookNumber } from './webhook-option.ts';

const switches = [
  {
    verb: 'activate',
    active: true,
    description:
      'resume deliveries: those held are attempted within seconds, unless their time limit has passed',
    done: 'is active. Held deliveries resume',
  },
  {
    verb: 'deactivate',
    active: false,
    description: 'stop deliveries: new events create none, and open ones are held',
    done: 'is inactive. Its open deliveries are held',
  },
] as const;

/** Adds the two. */
export function addSwitches(command: Command, { env, print }: CommandContext): void {
  for (const { verb, active, description, done } of switches) {
    command
      .command(verb)
      .description(description)
      .argument('<id>', 'its number')
      .addOption(json())
      .action(async (written: unknown, given: unknown) => {
        const id = checked(webhookNumber('<id>'), written);
        const options = checked(jsonSchema, given);
        const changed = await withDatabase(readSettings(env), (sql) => switchWebhook(sql, id, active));
        if (changed === null) throw noSuchWebhook(id);
        if (options.json) return print(JSON.stringify({ webhookId: id, active, changed }));
        const already = `is already ${active ? 'active' : 'inactive'}. Nothing was changed`;
        print(`Webhook ${id} ${changed ? done : already}.`);
      });
  }
}
