/** `waybill eshop`: e-shops, their API keys, and their access to the API. */
import type { Command } from 'commander';
import * as v from 'valibot';
import { createEshopWithUsers, noSuchEshop } from '../app/accounts.ts';
import { readSettings } from '../config/config.ts';
import { listEshops, rotateApiKey, setDisabled } from '../db/accounts/eshops.ts';
import { type CommandContext, noOptions, requiredOption, runs } from '../lib/command-line.ts';
import { addDeletion } from './delete-eshop.ts';
import { addErasure } from './erase-customer.ts';
import { addNotices, addRecord } from './eshop-record.ts';
import { pairs } from './layout.ts';
import { withDatabase } from './open-database.ts';
import { email, name, oneEshop } from './options.ts';

const newEshop = v.object({
  name: requiredOption('--name <name>', 'name of the e-shop', name),
  email: requiredOption('--email <address>', 'e-mail address for notices about its webhooks', email),
});

export function eshopCommand(command: Command, context: CommandContext): void {
  const { env, print } = context;
  const create = command
    .command('create')
    .description('create an e-shop with one user of each role; the API key and passwords are shown once');
  runs(create, newEshop, async ({ json, ...eshop }) => {
    const created = await withDatabase(readSettings(env), (sql) => createEshopWithUsers(sql, eshop));
    if (json) return print(JSON.stringify(created), true);
    print(
      pairs([
        ['E-shop', created.eshopId],
        ['x-api-key', created.apiKey],
        ['Shop user', `${created.username} / ${created.password}`],
        ['Warehouse user', `${created.warehouse.username} / ${created.warehouse.password}`],
      ]),
      true,
    );
    print('Keep these credentials: they are not shown again.');
  });
  runs(command.command('list').description('all e-shops'), noOptions, async ({ json }) => {
    const rows = await withDatabase(readSettings(env), listEshops);
    if (json) {
      const records = rows.map(({ id, disabledAt, ...row }) => ({
        eshopId: id,
        ...row,
        disabledAt: disabledAt ?? undefined,
      }));
      return print(JSON.stringify(records));
    }
    for (const { id, name, email, disabledAt } of rows) {
      print(`${String(id).padStart(6)}  ${name}  <${email}>${disabledAt === null ? '' : '  disabled'}`);
    }
  });
  addRecord(command, context);
  addNotices(command, context);
  const rotateKey = command
    .command('rotate-key')
    .description(
      'replace the API key of an e-shop: the new one is shown once, the old one stops working immediately',
    );
  runs(rotateKey, oneEshop, async ({ eshop, json }) => {
    const apiKey = await withDatabase(readSettings(env), (sql) => rotateApiKey(sql, eshop));
    if (apiKey === null) throw noSuchEshop(eshop);
    if (json) return print(JSON.stringify({ eshopId: eshop, apiKey }), true);
    print(pairs(Object.entries({ 'E-shop': eshop, 'x-api-key': apiKey })), true);
    print('Keep the key: it is not shown again. The old one no longer works.');
  });
  for (const [verb, disabled, description] of [
    [
      'disable',
      true,
      'deny an e-shop access to the API, including logins and tokens; its deliveries continue',
    ],
    ['enable', false, 'allow an e-shop access to the API again'],
  ] as const) {
    runs(command.command(verb).description(description), oneEshop, async ({ eshop, json }) => {
      if (!(await withDatabase(readSettings(env), (sql) => setDisabled(sql, eshop, disabled)))) {
        throw noSuchEshop(eshop);
      }
      print(json ? JSON.stringify({ eshopId: eshop, disabled }) : `E-shop ${eshop} is ${verb}d.`);
    });
  }
  addErasure(command, context);
  addDeletion(command, context);
}
