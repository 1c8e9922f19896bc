/** `waybill user`: the users of an e-shop. */
import { Command } from 'commander';
import * as v from 'valibot';
import { createUser, noSuchEshop, noSuchUser, replacePassword } from '../app/accounts.ts';
import { readSettings } from '../config/config.ts';
import { changeSeenEshops } from '../db/user-eshops.ts';
import { deleteUser, listUsers } from '../db/users.ts';
import { roles } from '../domain/role.ts';
import { type CommandContext, checked, json } from '../lib/command-line.ts';
import { UserError } from '../lib/user-error.ts';
import { minute, pairs, table } from './layout.ts';
import { withDatabase } from './open-database.ts';
import { eshopOption, oneEshopSchema } from './options.ts';

const username = v.pipe(v.string(), v.minLength(1, '--username must not be empty.'));
const oneUserSchema = v.object({ ...oneEshopSchema.entries, username });
const numbers = (name: string) =>
  v.optional(
    v.pipe(
      v.string(),
      v.regex(
        /^[1-9]\d{0,8}(,[1-9]\d{0,8})*$/,
        `${name} must be the numbers of e-shops, separated by commas.`,
      ),
      v.transform((text) => text.split(',').map(Number)),
    ),
    undefined,
  );
const seenSchema = v.pipe(
  v.object({ ...oneUserSchema.entries, add: numbers('--add'), remove: numbers('--remove') }),
  v.transform(({ add = [], remove = [], ...rest }) => ({ ...rest, add, remove })),
);
const newUserSchema = v.object({
  ...oneEshopSchema.entries,
  role: v.picklist(roles, '--role must be shop or warehouse.'),
  username: v.optional(username),
});

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
      const { userId, password } = await withDatabase(readSettings(env), (sql) =>
        createUser(sql, { eshopId: eshop, username: name, role }),
      );
      if (rest.json)
        return print(JSON.stringify({ eshopId: eshop, userId, username: name, role, password }), true);
      print(
        pairs([
          ['E-shop', eshop],
          ['Role', role],
          ['User', `${name} / ${password}`],
        ]),
        true,
      );
      print('Keep the password: it is not shown again.');
    });
}

function addList(command: Command, { env, print }: CommandContext): void {
  command
    .command('list')
    .description('list the users of an e-shop')
    .addOption(eshopOption())
    .addOption(json())
    .action(async (options: unknown) => {
      const { eshop, ...rest } = checked(oneEshopSchema, options);
      const rows = await withDatabase(readSettings(env), (sql) => listUsers(sql, eshop));
      if (rows === null) throw noSuchEshop(eshop);
      if (rest.json) {
        return print(JSON.stringify(rows.map(({ id, ...row }) => ({ eshopId: eshop, userId: id, ...row }))));
      }
      const lines = rows.map(({ id, username: user, role, createdAt }) => ({
        id,
        user,
        role,
        since: minute(createdAt),
      }));
      print(rows.length === 0 ? `E-shop ${eshop} has no users.` : table(lines));
    });
}

function addDelete(command: Command, { env, print }: CommandContext): void {
  command
    .command('delete')
    .description('delete a user; their tokens stop working at once')
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
    .description('replace the password of a user: it is shown once, and their tokens stop working at once')
    .addOption(eshopOption())
    .requiredOption('--username <name>', 'name of the user')
    .addOption(json())
    .action(async (options: unknown) => {
      const { eshop, username: name, ...rest } = checked(oneUserSchema, options);
      const password = await withDatabase(readSettings(env), (sql) => replacePassword(sql, eshop, name));
      if (rest.json) return print(JSON.stringify({ eshopId: eshop, username: name, password }), true);
      print(
        pairs([
          ['E-shop', eshop],
          ['User', `${name} / ${password}`],
        ]),
        true,
      );
      print('Keep the password: it is not shown again. Earlier tokens no longer work.');
    });
}

function addEshops(command: Command, { env, print }: CommandContext): void {
  command
    .command('eshops')
    .description('the e-shops that a warehouse user sees in the console: its own, and those added here')
    .addOption(eshopOption())
    .requiredOption('--username <name>', 'name of the user')
    .option('--add <ids>', 'numbers of e-shops, separated by commas')
    .option('--remove <ids>', 'likewise')
    .addOption(json())
    .action(async (options: unknown) => {
      const { eshop, username: name, add, remove, ...rest } = checked(seenSchema, options);
      const user = { eshopId: eshop, username: name };
      const found = await withDatabase(readSettings(env), (sql) =>
        changeSeenEshops(sql, user, { add, remove }),
      );
      if (found.kind === 'noUser') throw noSuchUser(eshop, name);
      if (found.kind === 'noEshop') throw noSuchEshop(found.eshopId);
      if (found.kind === 'role') {
        throw new UserError(
          `User "${name}" has the role ${found.role}: only warehouse users can see several e-shops.`,
        );
      }
      if (rest.json) return print(JSON.stringify({ ...user, eshops: found.eshops }));
      print(`User "${name}" of e-shop ${eshop} sees in the console: ${found.eshops.join(', ')}.`);
    });
}

export function userCommand(context: CommandContext): Command {
  const command = new Command('user');
  for (const add of [addCreate, addList, addPassword, addDelete, addEshops]) add(command, context);
  return command;
}
