/** `waybill user`: the users of an e-shop. */
import type { Command } from 'commander';
import * as v from 'valibot';
import { createUser, noSuchEshop, noSuchUser, replacePassword } from '../app/accounts.ts';
import { readSettings } from '../config/config.ts';
import { changeSeenEshops } from '../db/accounts/user-eshops.ts';
import { deleteUser, listUsers } from '../db/accounts/users.ts';
import { MAX_USERNAME_CHARS, roles } from '../domain/role.ts';
import { type CommandContext, optional, requiredOption, runs, subcommands } from '../lib/command-line.ts';
import { UserError } from '../lib/user-error.ts';
import { minute, pairs, table } from './layout.ts';
import { withDatabase } from './open-database.ts';
import { eshopOption, nonEmptyText, oneEshop } from './options.ts';

const numbers = (name: string) =>
  v.pipe(
    v.string(),
    v.regex(/^[1-9]\d{0,8}(,[1-9]\d{0,8})*$/, `${name} must be the numbers of e-shops, separated by commas.`),
    v.transform((text) => text.split(',').map(Number)),
  );
const newUser = v.object({
  eshop: eshopOption,
  role: requiredOption(
    '--role <role>',
    'shop or warehouse',
    v.picklist(roles, '--role must be shop or warehouse.'),
  ),
  username: optional('--username <name>', 'default: the role', (name) =>
    v.pipe(
      nonEmptyText(name),
      v.maxLength(MAX_USERNAME_CHARS, `${name} may have at most ${MAX_USERNAME_CHARS} characters.`),
    ),
  ),
});
const oneUser = v.object({
  eshop: eshopOption,
  username: requiredOption('--username <name>', 'name of the user', nonEmptyText),
});
const seenOptions = v.object({
  ...oneUser.entries,
  add: optional('--add <ids>', 'numbers of e-shops, separated by commas', numbers),
  remove: optional('--remove <ids>', 'likewise', numbers),
});

export function userCommand(command: Command, { env, print }: CommandContext): void {
  const part = subcommands(command, {
    create: 'create a user; the password is shown once',
    list: 'list the users of an e-shop',
    password: 'replace the password of a user: it is shown once, and their tokens stop working immediately',
    delete: 'delete a user; their tokens stop working immediately',
    eshops: 'the e-shops that a warehouse user sees in the console: its own, and those added here',
  });
  runs(part('create'), newUser, async ({ eshop, role, username = role, json }) => {
    const { userId, password } = await withDatabase(readSettings(env), (sql) =>
      createUser(sql, { eshopId: eshop, username, role }),
    );
    if (json) return print(JSON.stringify({ eshopId: eshop, userId, username, role, password }), true);
    print(pairs(Object.entries({ 'E-shop': eshop, Role: role, User: `${username} / ${password}` })), true);
    print('Keep the password: it is not shown again.');
  });

  runs(part('list'), oneEshop, async ({ eshop, json }) => {
    const rows = await withDatabase(readSettings(env), (sql) => listUsers(sql, eshop));
    if (rows === null) throw noSuchEshop(eshop);
    if (json) {
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

  runs(part('password'), oneUser, async ({ eshop, username, json }) => {
    const password = await withDatabase(readSettings(env), (sql) => replacePassword(sql, eshop, username));
    if (json) return print(JSON.stringify({ eshopId: eshop, username, password }), true);
    print(pairs(Object.entries({ 'E-shop': eshop, User: `${username} / ${password}` })), true);
    print('Keep the password: it is not shown again. Earlier tokens no longer work.');
  });

  runs(part('delete'), oneUser, async ({ eshop, username, json }) => {
    if (!(await withDatabase(readSettings(env), (sql) => deleteUser(sql, eshop, username)))) {
      throw noSuchUser(eshop, username);
    }
    if (json) return print(JSON.stringify({ eshopId: eshop, username, deleted: true }));
    print(`User "${username}" of e-shop ${eshop} was deleted; their tokens no longer work.`);
  });

  runs(part('eshops'), seenOptions, async ({ eshop, username, add = [], remove = [], json }) => {
    const user = { eshopId: eshop, username };
    const found = await withDatabase(readSettings(env), (sql) =>
      changeSeenEshops(sql, user, { add, remove }),
    );
    if (found.kind === 'noUser') throw noSuchUser(eshop, username);
    if (found.kind === 'noEshop') throw noSuchEshop(found.eshopId);
    if (found.kind === 'role') {
      throw new UserError(
        `User "${username}" has the role ${found.role}: only warehouse users can see several e-shops.`,
      );
    }
    if (json) return print(JSON.stringify({ ...user, eshops: found.eshops }));
    print(`User "${username}" of e-shop ${eshop} sees in the console: ${found.eshops.join(', ')}.`);
  });
}
