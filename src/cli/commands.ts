/**
 * The operators' command `waybill`: e-shops, their users, the demonstration, and the retry policy in force.
 * @module
 */
import { Command } from 'commander';
import postgres from 'postgres';
import * as v from 'valibot';
import { readSettings, retryPolicyOf } from '../config.ts';
import { listEshops } from '../db/eshops.ts';
import { createUser } from '../db/users.ts';
import { createEshopWithUsers } from '../demonstration.ts';
import { hashPassword, newPassword } from '../passwords.ts';
import { version } from '../version.ts';
import { configurationTable } from './configuration-table.ts';
import { demoCommand } from './demo/command.ts';
import { CommandError, withDatabase } from './open-database.ts';
import { checked, json, jsonSchema } from './options.ts';
import { policyTable } from './policy-table.ts';
import { reconcileCommand } from './reconcile.ts';

/** What the command is given from outside. */
export interface CommandContext {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Receives what the command prints, line by line. */
  readonly print: (line: string) => void;
}

const name = v.pipe(v.string(), v.trim(), v.minLength(1, '--name must not be empty.'));
const newEshopSchema = v.object({
  ...jsonSchema.entries,
  name,
  email: v.pipe(v.string(), v.email('--email must be an e-mail address.')),
});
const newUserSchema = v.object({
  ...jsonSchema.entries,
  eshop: v.pipe(
    v.string(),
    v.regex(/^[1-9]\d{0,8}$/, '--eshop must be the number of an e-shop; waybill eshop list shows them.'),
    v.transform(Number),
  ),
  role: v.picklist(['shop', 'warehouse'], '--role must be shop or warehouse.'),
  username: v.optional(v.pipe(v.string(), v.minLength(1, '--username must not be empty.'))),
});

/** Lines of `name  value`, the values aligned. */
function pairs(rows: readonly (readonly [string, string | number])[]): string {
  const width = Math.max(...rows.map(([title]) => title.length));
  return rows.map(([title, value]) => `${title.padEnd(width)}  ${value}`).join('\n');
}

/** What a foreign or a unique key refused. */
function refused(error: unknown, eshop: number, username: string): unknown {
  if (!(error instanceof postgres.PostgresError)) return error;
  if (error.code === '23503') return new CommandError(`There is no e-shop ${eshop}.`);
  if (error.code === '23505') {
    return new CommandError(`E-shop ${eshop} has a user "${username}" already; choose another --username.`);
  }
  return error;
}

function eshopCommand({ env, print }: CommandContext): Command {
  const command = new Command('eshop').description('e-shops');
  command
    .command('create')
    .description('create an e-shop with one user of each role; the API key and passwords are shown once')
    .requiredOption('--name <name>', 'name of the e-shop')
    .requiredOption('--email <address>', 'where notices about deactivated webhooks go')
    .addOption(json())
    .action(async (options: unknown) => {
      const eshop = checked(newEshopSchema, options);
      const made = await withDatabase(readSettings(env), (sql) => createEshopWithUsers(sql, eshop));
      if (eshop.json) return print(JSON.stringify(made));
      print(
        pairs([
          ['E-shop', made.eshopId],
          ['x-api-key', made.apiKey],
          ['Shop user', `${made.username} / ${made.password}`],
          ['Warehouse user', `${made.warehouse.username} / ${made.warehouse.password}`],
        ]),
      );
      print('Keep these: they are not shown again.');
    });
  command
    .command('list')
    .description('all e-shops')
    .addOption(json())
    .action(async (options: unknown) => {
      const rows = await withDatabase(readSettings(env), listEshops);
      if (checked(jsonSchema, options).json) {
        return print(JSON.stringify(rows.map(({ id, ...row }) => ({ eshopId: id, ...row }))));
      }
      for (const row of rows) print(`${String(row.id).padStart(6)}  ${row.name}  <${row.email}>`);
    });
  return command;
}

function userCommand({ env, print }: CommandContext): Command {
  const command = new Command('user').description('users of an e-shop');
  command
    .command('create')
    .description('create a user; the password is shown once')
    .requiredOption('--eshop <id>', 'number of the e-shop')
    .requiredOption('--role <role>', 'shop or warehouse')
    .option('--username <name>', 'default: the role')
    .addOption(json())
    .action(async (options: unknown) => {
      const { eshop, role, username = role, ...rest } = checked(newUserSchema, options);
      const password = newPassword();
      const passwordHash = await hashPassword(password);
      const userId = await withDatabase(readSettings(env), (sql) =>
        createUser(sql, { eshopId: eshop, username, role, passwordHash }).catch((error: unknown) => {
          throw refused(error, eshop, username);
        }),
      );
      if (rest.json) return print(JSON.stringify({ eshopId: eshop, userId, username, role, password }));
      print(
        pairs([
          ['E-shop', eshop],
          ['Role', role],
          ['User', `${username} / ${password}`],
        ]),
      );
      print('Keep the password: it is not shown again.');
    });
  return command;
}

/**
 * The whole command.
 * @example await waybillCommand({ env: process.env, print: console.log }).parseAsync();
 */
export function waybillCommand(context: CommandContext): Command {
  const command = new Command('waybill')
    .description('Operates a Waybill: the one in DATA_DIR, or on the database at DATABASE_URL.')
    .version(version);
  command.addCommand(eshopCommand(context));
  command.addCommand(userCommand(context));
  command.addCommand(demoCommand(context));
  command.addCommand(reconcileCommand(context));
  command
    .command('policy')
    .description('the waits between the attempts of a delivery, with the configured values')
    .action(() => context.print(policyTable(retryPolicyOf(readSettings(context.env)))));
  command
    .command('variables')
    .description('all environment variables, with their defaults and meanings')
    .action(() => context.print(configurationTable()));
  return command;
}
