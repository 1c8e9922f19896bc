/**
 * The operators' command `waybill`. Each of its commands lies in a file of its own, which is loaded when it is asked for: what
 * one of them needs (the client of Temporal, the demonstration) costs the others no time.
 * @module
 */
import { Command } from 'commander';
import type { CommandContext } from '../command-line.ts';
import { version } from '../version.ts';

/** A command of `waybill`. */
interface Part {
  readonly description: string;
  /** Loads it. */
  readonly load: (context: CommandContext) => Promise<Command>;
}

/** By name, in the order of the help. */
const parts: Readonly<Record<string, Part>> = {
  eshop: {
    description: 'e-shops',
    load: async (context) => (await import('./eshop-command.ts')).eshopCommand(context),
  },
  user: {
    description: 'users of an e-shop',
    load: async (context) => (await import('./user-command.ts')).userCommand(context),
  },
  keys: {
    description: 'the master key under which webhook secrets are stored',
    load: async (context) => (await import('./keys-command.ts')).keysCommand(context),
  },
  demo: {
    description:
      'play a day of a small warehouse against a running instance: every kind of event within a minute',
    load: async (context) => (await import('../../demo/command.ts')).demoCommand(context),
  },
  status: {
    description: 'what waits, what is open or held, who is missing; ends with 1 when somebody is needed',
    load: async (context) => (await import('./status-command.ts')).statusCommand(context),
  },
  deliveries: {
    description: 'deliveries of all e-shops: lists of them, and one with its attempts',
    load: async (context) => (await import('./deliveries-command.ts')).deliveriesCommand(context),
  },
  webhooks: {
    description: 'webhooks of all e-shops: lists of them, and one with its last deactivation',
    load: async (context) => (await import('./webhooks-command.ts')).webhooksCommand(context),
  },
  links: {
    description: "links into Temporal's UI: what is failing or held, of a webhook, an order or a receiver",
    load: async (context) => (await import('./links-command.ts')).linksCommand(context),
  },
  reconcile: {
    description: 'restart what is open here but gone from Temporal; close what an operator ended there',
    load: async (context) => (await import('./reconcile.ts')).reconcileCommand(context),
  },
  retention: {
    description: 'make the partitions of the coming weeks, drop what is older than RETENTION',
    load: async (context) => (await import('./retention.ts')).retentionCommand(context),
  },
  replay: {
    description:
      'replay histories from Temporal against the present workflow code, and name those that break',
    load: async (context) => (await import('./replay.ts')).replayCommand(context),
  },
  policy: {
    description: 'the waits between the attempts of a delivery, with the configured values',
    load: async (context) => (await import('./configured-commands.ts')).policyCommand(context),
  },
  variables: {
    description: 'all environment variables, with their defaults and meanings',
    load: async (context) => (await import('./configured-commands.ts')).variablesCommand(context),
  },
};

/** The whole command, of which only the part is loaded that the arguments ask for: the others have a name and a description. */
async function waybillCommand(args: readonly string[], context: CommandContext): Promise<Command> {
  const wanted = args[0] === 'help' ? args[1] : args[0];
  const command = new Command('waybill')
    .description('Manages a Waybill: the one in DATA_DIR, or the one on the database at DATABASE_URL.')
    .version(version);
  for (const [name, { description, load }] of Object.entries(parts)) {
    const part = name === wanted ? await load(context) : new Command(name);
    command.addCommand(part.description(description));
  }
  return command;
}

/**
 * Runs `waybill`.
 * @param args what follows its name
 * @throws what the command throws: a `UserError` is meant for the person at the command line
 * @example await waybill(['eshop', 'list'], { env: process.env, print: console.log });
 */
export async function waybill(args: readonly string[], context: CommandContext): Promise<void> {
  const command = await waybillCommand(args, context);
  await command.parseAsync(args, { from: 'user' });
}
