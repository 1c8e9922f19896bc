/** `waybill eshop`: e-shops, their API keys, and their access to the API. */
import type { Command } from 'commander';
import * as v from 'valibot';
import { createEshopWithUsers, noSuchEshop } from '../app/accounts.ts';
import { readSettings } from '../config/config.ts';
import { listEshops, rotateApiKey, setDisabled } from '../db/accounts/eshops.ts';
import { type CommandContext, noOptions, requiredOption, runs, subcommands } from '../lib/command-line.ts';
import { addDeletion } from './delete-eshop.ts';
import { addErasure } from './erase-customer.ts';
import { addNotices, addShow, addUpdate } from './eshop-record.ts';
import { pairs } from './layout.ts';
import { withDatabase } from './open-database.ts';
import { email, name, oneEshop } from './options.ts';

const newEshop = v.object({
  name: requiredOption('--name <name>', 'name of the e-shop', name),
  email: requiredOption('--email <address>', 'e-mail address for notices about its webhooks', email),
});

export function eshopCommand(command: Command, context: CommandContext): void {
  const { env, print } = context;
  const part = subcommands(command, {
    create: 'create an e-shop with one user of each role; the API key and passwords are shown once',
    list: 'all e-shops',
    show: 'show an e-shop with its users, webhooks and contract',
    update: 'change the name, e-mail address or warnings of an e-shop',
    notices: "the notices about an e-shop's webhooks, their recipients and their times",
    'rotate-key':
      'replace the API key of an e-shop: the new one is shown once, the old one stops working immediately',
    disable: 'deny an e-shop access to the API, including logins and tokens; its deliveries continue',
    enable: 'allow an e-shop access to the API again',
    'erase-customer':
      "erase one customer's personal data in orders, returns, events and receivers' responses",
    delete: 'delete an e-shop and all its data',
  });
  runs(part('create'), newEshop, async ({ json, ...eshop }) => {
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
  runs(part('list'), noOptions, async ({ json }) => {
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
  addShow(part('show'), context);
  addUpdate(part('update'), context);
  addNotices(part('notices'), context);
  runs(part('rotate-key'), oneEshop, async ({ eshop, json }) => {
    const apiKey = await withDatabase(readSettings(env), (sql) => rotateApiKey(sql, eshop));
    if (apiKey === null) throw noSuchEshop(eshop);
    if (json) return print(JSON.stringify({ eshopId: eshop, apiKey }), true);
    print(pairs(Object.entries({ 'E-shop': eshop, 'x-api-key': apiKey })), true);
    print('Keep the key: it is not shown again. The old one no longer works.');
  });
  for (const verb of ['disable', 'enable'] as const) {
    const disabled = verb === 'disable';
    runs(part(verb), oneEshop, async ({ eshop, json }) => {
      if (!(await withDatabase(readSettings(env), (sql) => setDisabled(sql, eshop, disabled)))) {
        throw noSuchEshop(eshop);
      }
      print(json ? JSON.stringify({ eshopId: eshop, disabled }) : `E-shop ${eshop} is ${verb}d.`);
    });
  }
  addErasure(part('erase-customer'), context);
  addDeletion(part('delete'), context);
}
