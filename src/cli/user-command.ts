/**
 * `waybill user`: the users of an e-shop.
 * @module
 */
import { Command } from 'commander';
import postgres from 'postgres';
import * as v from 'valibot';
import { readSettings } from '../config.ts';
import { createUser, deleteUser, listUsers, replacePassword } from '../db/users.ts';
import { roles } from '../domain/role.ts';
import { hashPassword, newPassword } from '../passwords.ts';
import { minute, pairs, table } from './layout.ts';
import { CommandError, withDatabase } from './open-database.ts';
import {
  type CommandContext,
  checked,
  eshopOption,
  eshopSchema,
  json,
  jsonSchema,
  noSuchEshop,
} from './options.ts';

const username = v.pipe(v.string(), v.minLength(1, '--username must not be empty.'));
const eshopUsersSchema = v.object({ ...jsonSchema.entries, ...eshopSchema.entries });
const oneUserSchema = v.object({ ...eshopUsersSchema.entries, username });
const newUserSchema = v.object({
  ...eshopUsersSchema.entries,
  role: v.picklist(roles, '--role must be shop or warehouse.'),
  username: v.optional(username),
});

/** What a foreign or a unique key refused. */
function refused(error: unknown, eshop: number, name: string): unknown {
  if (!(error instanceof postgres.PostgresError)) return error;
  if (error.code === '23503') return noSuchEshop(eshop);
  if (error.code === '23505') {
    return new CommandError(`E-shop ${eshop} already has a user "${name}"; choose another --username.`);
  }
  return error;
}

const noSuchUser = (eshop: number, name: string) =>
  new CommandError(`E-shop ${eshop} has no user "${name}"; waybill user list --eshop ${eshop} shows them.`);

function addCreate(command: Command, { env, print }: CommandContext): void {
  command
    .command('create')
    .description('create a user; the password is shown once')
    .addOption(eshopOption())
    .requiredOption('--role <role>', 'shop or warehouse')
    .option('--username <name>', 'default: the role')
    .addOption(json())
    .action(async (options: unknown) => {
      const { eshop, role, username: name = role, ...rest } = checked(newUserSchema, options);
      const password = newPassword();
      const passwordHash = await hashPassword(password);
      const userId = await withDatabase(readSettings(env), (sql) =>
        createUser(sql, { eshopId: eshop, username: name, role, passwordHash }).catch((error: unknown) => {
          throw refused(error, eshop, name);
        }),
      );
      if (rest.json) return print(JSON.stringify({ eshopId: eshop, userId, username: name, role, password }));
      print(
        pairs([
          ['E-shop', eshop],
          ['Role', role],
          ['User', `${name} / ${password}`],
        ]),
      );
      print('Keep the password: it is not shown again.');
    });
}

function addList(command: Command, { env, print }: CommandContext): void {
  command
    .command('list')
    .description('the users of an e-shop')
    .addOption(eshopOption())
    .addOption(json())
    .action(async (options: unknown) => {
      const { eshop, ...rest } = checked(eshopUsersSchema, options);
      const rows = await withDatabase(readSettings(env), (sql) => listUsers(sql, eshop));
      if (rows === null) throw noSuchEshop(eshop);
      if (rest.json) {
        return print(JSON.stringify(rows.map(({ id, ...row }) => ({ eshopId: eshop, userId: id, ...row }))));
      }
      const lines = rows.map((row) => [row.id, row.username, row.role, minute(row.createdAt)]);
      print(
        rows.length === 0 ? `E-shop ${eshop} has no users.` : table(['id', 'user', 'role', 'since'], lines),
      );
    });
}

function addDelete(command: Command, { env, print }: CommandContext): void {
  command
    .command('delete')
    .description('delete a user; their tokens stop working with the next request')
    .addOption(eshopOption())
    .requiredOption('--username <name>', 'name of the user')
    .addOption(json())
    .action(async (options: unknown) => {
      const { eshop, username: name, ...rest } = checked(oneUserSchema, options);
      if (!(await withDatabase(readSettings(env), (sql) => deleteUser(sql, eshop, name)))) {
        throw noSuchUser(eshop, name);
      }
      if (rest.json) return print(JSON.stringify({ eshopId: eshop, username: name, deleted: true }));
      print(`User "${name}" of e-shop ${eshop} was deleted; their tokens no longer work.`);
    });
}

function addPassword(command: Command, { env, print }: CommandContext): void {
  command
    .command('password')
    .description('give a user a new password, shown once; their tokens stop working with the next request')
    .addOption(eshopOption())
    .requiredOption('--username <name>', 'name of the user')
    .addOption(json())
    .action(async (options: unknown) => {
      const { eshop, username: name, ...rest } = checked(oneUserSchema, options);
      const password = newPassword();
      const hash = await hashPassword(password);
      if (!(await withDatabase(readSettings(env), (sql) => replacePassword(sql, eshop, name, hash)))) {
        throw noSuchUser(eshop, name);
      }
      if (rest.json) return print(JSON.stringify({ eshopId: eshop, username: name, password }));
      print(
        pairs([
          ['E-shop', eshop],
          ['User', `${name} / ${password}`],
        ]),
      );
      print('Keep the password: it is not shown again. Earlier tokens no longer work.');
    });
}

/** The command `user` with its subcommands. */
export function userCommand(context: CommandContext): Command {
  const command = new Command('user').description('users of an e-shop');
  for (const add of [addCreate, addList, addPassword, addDelete]) add(command, context);
  return command;
}
