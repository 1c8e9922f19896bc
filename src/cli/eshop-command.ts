/**
 * `waybill eshop`: e-shops, their API keys, and whether the API is open to them.
 * @module
 */
import { Command } from 'commander';
import * as v from 'valibot';
import { createEshopWithUsers, noSuchEshop } from '../accounts.ts';
import { type CommandContext, checked, json, jsonSchema } from '../command-line.ts';
import { readSettings } from '../config/config.ts';
import { listEshops, rotateApiKey, setDisabled } from '../db/eshops.ts';
import { eshopOption, eshopSchema } from './eshop-option.ts';
import { pairs } from './layout.ts';
import { withDatabase } from './open-database.ts';

const newEshopSchema = v.object({
  ...jsonSchema.entries,
  name: v.pipe(v.string(), v.trim(), v.minLength(1, '--name must not be empty.')),
  email: v.pipe(v.string(), v.email('--email must be an e-mail address.')),
});
const oneEshopSchema = v.object({ ...jsonSchema.entries, ...eshopSchema.entries });

/** The command `eshop` with its subcommands. */
export function eshopCommand(context: CommandContext): Command {
  const { env, print } = context;
  const command = new Command('eshop');
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
        const records = rows.map(({ id, disabledAt, ...row }) => ({
          eshopId: id,
          ...row,
          ...(disabledAt === null ? {} : { disabledAt }),
        }));
        return print(JSON.stringify(records));
      }
      for (const { id, name, email, disabledAt } of rows) {
        print(`${String(id).padStart(6)}  ${name}  <${email}>${disabledAt === null ? '' : '  disabled'}`);
      }
    });
  command
    .command('rotate-key')
    .description('give an e-shop a new API key, shown once; the old one stops working at once')
    .addOption(eshopOption())
    .addOption(json())
    .action(async (options: unknown) => {
      const { eshop, ...rest } = checked(oneEshopSchema, options);
      const apiKey = await withDatabase(readSettings(env), (sql) => rotateApiKey(sql, eshop));
      if (apiKey === null) throw noSuchEshop(eshop);
      if (rest.json) return print(JSON.stringify({ eshopId: eshop, apiKey }));
      print(
        pairs([
          ['E-shop', eshop],
          ['x-api-key', apiKey],
        ]),
      );
      print('Keep the key: it is not shown again. The old one no longer works.');
    });
  for (const [verb, disabled] of [
    ['disable', true],
    ['enable', false],
  ] as const) {
    command
      .command(verb)
      .description(
        disabled
          ? 'close the API to an e-shop, logins and tokens included; its deliveries continue'
          : 'open the API to an e-shop again',
      )
      .addOption(eshopOption())
      .addOption(json())
      .action(async (options: unknown) => {
        const { eshop, ...rest } = checked(oneEshopSchema, options);
        if (!(await withDatabase(readSettings(env), (sql) => setDisabled(sql, eshop, disabled)))) {
          throw noSuchEshop(eshop);
        }
        print(rest.json ? JSON.stringify({ eshopId: eshop, disabled }) : `E-shop ${eshop} is ${verb}d.`);
      });
  }
  return command;
}
