/**
 * The operators' command `waybill`. Each command is loaded on demand: the dependencies of one (Temporal's client, the
 * demonstration) cost the others no time.
 *
 * Module cli, which imports demo, receiver, app, attempt, config, console, db, delivery, domain, embedded, http, lib,
 * log, reconciler, replay, retention, secrets, temporal. Begin: a command is a file of its own.
 */
import { Command } from 'commander';
import type { CommandContext } from '../lib/command-line.ts';
import { UserError } from '../lib/user-error.ts';
import { version } from '../lib/version.ts';

/** The description for the help, and the loader of the function that defines its options and action. */
type LazyCommand = readonly [
  description: string,
  load: () => Promise<(command: Command, context: CommandContext) => void>,
];

/** By name, in the order of the help. */
const commands: Readonly<Record<string, LazyCommand>> = {
  start: [
    'run the server, configured by its environment; by default with its own Postgres and Temporal',
    // `bin/waybill.js` runs the server. Calls that get here ask for help, or are mistaken.
    async () => (command) => {
      command.action(() => {
        throw new UserError('waybill start takes neither options nor arguments: see waybill variables.');
      });
    },
  ],
  eshop: ['e-shops', async () => (await import('./eshop-command.ts')).eshopCommand],
  contract: [
    'the contract of an e-shop: event types, payload versions, number of webhooks',
    async () => (await import('./contract-command.ts')).contractCommand,
  ],
  user: ['users of an e-shop', async () => (await import('./user-command.ts')).userCommand],
  keys: [
    'the master key under which webhook secrets are stored',
    async () => (await import('./keys-command.ts')).keysCommand,
  ],
  demo: [
    'play a day of a small warehouse against a running instance: every kind of event within a minute',
    async () => (await import('../../demo/command.ts')).demoCommand,
  ],
  measure: [
    'measure a running instance: deliveries per second, and latency by percentile',
    async () => (await import('../../demo/measure-command.ts')).measureCommand,
  ],
  status: [
    'show the queue, open and held deliveries, and missing workers; exits with 1 if something needs attention',
    async () => (await import('./status-command.ts')).statusCommand,
  ],
  top: [
    'show the status, updated every second until Ctrl-C',
    async () => (await import('./top-command.ts')).topCommand,
  ],
  console: [
    'open the console for operators in a browser on this machine: all e-shops, recoveries, workers, the queue',
    async () => (await import('./console-command.ts')).consoleCommand,
  ],
  deliveries: [
    'deliveries of all e-shops: list or show them; try now, redeliver, hold, resume or give up',
    async () => (await import('./deliveries-command.ts')).deliveriesCommand,
  ],
  webhooks: [
    'webhooks of all e-shops: list or show them; activate, deactivate, pause, resume or test one',
    async () => (await import('./webhooks-command.ts')).webhooksCommand,
  ],
  'import-eshops': [
    'import e-shops and users of another system from a file, with their existing API keys and passwords',
    async () => (await import('./import-eshops-command.ts')).importEshopsCommand,
  ],
  'import-webhooks': [
    'import webhooks of another system from a file, with the secrets that their receivers have',
    async () => (await import('./import-webhooks-command.ts')).importWebhooksCommand,
  ],
  examine: [
    'examine the receiver of a webhook: valid and invalid test requests, and a remedy for each failure',
    async () => (await import('./examine-command.ts')).examineCommand,
  ],
  trigger: [
    'trigger a test event: real deliveries of a sample, marked as a test',
    async () => (await import('./trigger-command.ts')).triggerCommand,
  ],
  listen: [
    'run a receiver on this machine: it registers itself, verifies and prints deliveries, and can forward them',
    async () => (await import('./listen-command.ts')).listenCommand,
  ],
  recover: [
    'redeliver the events that a webhook lost in a period; runs on its own once started',
    async () => (await import('./recover-command.ts')).recoverCommand,
  ],
  recoveries: [
    'recoveries: list or show them; pause, resume or cancel one',
    async () => (await import('./recoveries-command.ts')).recoveriesCommand,
  ],
  links: [
    "print links to Temporal's UI: failing and held deliveries, and those of a webhook, an order or a receiver",
    async () => (await import('./links-command.ts')).linksCommand,
  ],
  reconcile: [
    'restart open deliveries whose workflow is missing from Temporal; close those that an operator ended there',
    async () => (await import('./reconcile.ts')).reconcileCommand,
  ],
  retention: [
    'create partitions for the coming weeks; delete data older than RETENTION',
    async () => (await import('./retention.ts')).retentionCommand,
  ],
  migrate: [
    'migrate the database at DATABASE_URL, as each start does',
    async () => (await import('./migrate-command.ts')).migrateCommand,
  ],
  replay: [
    'replay histories from Temporal against the current workflow code, and report those that break',
    async () => (await import('./replay.ts')).replayCommand,
  ],
  policy: [
    'show the waits between the attempts of a delivery, as configured',
    async () => (await import('./configured-commands.ts')).policyCommand,
  ],
  variables: [
    'list all environment variables, with their defaults and meanings',
    async () => (await import('./configured-commands.ts')).variablesCommand,
  ],
};

/**
 * Runs `waybill`. Only the requested command is loaded; of the others, only the names and descriptions.
 * @throws UserError, meant for the person at the command line
 * @example await waybill(['eshop', 'list'], { env: process.env, print: console.log });
 */
export async function waybill(args: readonly string[], context: CommandContext): Promise<void> {
  const commandName = args[0] === 'help' ? args[1] : args[0];
  const command = new Command('waybill')
    .description(
      'Manages an instance of Waybill: the one in DATA_DIR, or the one whose database is at DATABASE_URL.',
    )
    .version(version);
  for (const [name, [description, load]] of Object.entries(commands)) {
    const part = command.command(name).description(description);
    if (name === commandName) (await load())(part, context);
  }
  await command.parseAsync(args, { from: 'user' });
}
