/** `waybill eshop show|update`. */
import type { Command } from 'commander';
import * as v from 'valibot';
import { noSuchEshop } from '../app/accounts.ts';
import { readSettings } from '../config/config.ts';
import {
  changeNotifications,
  type EshopRow,
  findEshop,
  readContract,
  readEshop,
  updateEshop,
} from '../db/eshops.ts';
import type { Pool } from '../db/pool.ts';
import { listUsers } from '../db/users.ts';
import { listWebhooks } from '../db/webhooks/webhooks.ts';
import { type Contract, contractOf } from '../domain/contract.ts';
import type { EshopRecord } from '../domain/eshop.ts';
import { counted } from '../domain/words.ts';
import { type CommandContext, checked, json } from '../lib/command-line.ts';
import { contractRows } from './contract-command.ts';
import { minute, pairs } from './layout.ts';
import { withDatabase } from './open-database.ts';
import { email, eshopOption, name, oneEshopSchema, yesOrNo } from './options.ts';

const changeSchema = v.pipe(
  v.object({
    ...oneEshopSchema.entries,
    name: v.optional(name),
    email: v.optional(email),
    warningMails: v.optional(yesOrNo('--warning-mails')),
  }),
  v.check(
    ({ name, email, warningMails }) => [name, email, warningMails].some((each) => each !== undefined),
    'Nothing to change: give --name, --email or --warning-mails.',
  ),
);

interface ShownEshop extends EshopRow {
  readonly notifications: EshopRecord['notifications'];
  readonly users: readonly string[];
  readonly webhooks: { readonly active: number; readonly inactive: number };
  readonly contract: Contract;
}

async function read(sql: Pool, eshopId: number): Promise<ShownEshop> {
  const eshop = await findEshop(sql, eshopId);
  if (eshop === null) throw noSuchEshop(eshopId);
  const users = (await listUsers(sql, eshopId)) ?? [];
  const webhooks = await listWebhooks(sql, eshopId, null);
  const active = webhooks.filter((webhook) => webhook.active).length;
  return {
    ...eshop,
    notifications: (await readEshop(sql, eshopId)).notifications,
    users: users.map(({ username }) => username),
    webhooks: { active, inactive: webhooks.length - active },
    contract: contractOf(await readContract(sql, eshopId)),
  };
}

const record = ({ id, ...rest }: ShownEshop) => ({ eshopId: id, ...rest });

function details(eshop: ShownEshop): string {
  const { id, name, email, notifications, createdAt, disabledAt, users, webhooks, contract } = eshop;
  const { active, inactive } = webhooks;
  return pairs([
    ['E-shop', id],
    ['Name', name],
    ['E-mail', email],
    ['Warnings', notifications.warning ? 'sent before a webhook is deactivated' : 'not sent'],
    ['Created', minute(createdAt)],
    ['API', disabledAt === null ? 'open' : `disabled since ${minute(disabledAt)}`],
    ['Users', users.length === 0 ? 'none' : users.join(', ')],
    ['Webhooks', `${counted(active, 'active webhook')}, ${inactive} inactive`],
    ...contractRows(contract),
  ]);
}

export function addRecord(command: Command, { env, print }: CommandContext): void {
  command
    .command('show')
    .description('show an e-shop with its users, webhooks and contract')
    .addOption(eshopOption())
    .addOption(json())
    .action(async (given: unknown) => {
      const { eshop, ...options } = checked(oneEshopSchema, given);
      const found = await withDatabase(readSettings(env), (sql) => read(sql, eshop));
      print(options.json ? JSON.stringify(record(found)) : details(found));
    });
  command
    .command('update')
    .description('change the name, e-mail address or warnings of an e-shop')
    .addOption(eshopOption())
    .option('--name <name>', 'name of the e-shop')
    .option('--email <address>', 'e-mail address for notices about its webhooks')
    .option('--warning-mails <yes|no>', 'whether an e-mail warns it before a webhook is deactivated')
    .addOption(json())
    .action(async (given: unknown) => {
      const { eshop, name, email, warningMails, ...options } = checked(changeSchema, given);
      const found = await withDatabase(readSettings(env), async (sql) => {
        if (!(await updateEshop(sql, eshop, { name, email }))) throw noSuchEshop(eshop);
        if (warningMails !== undefined) await changeNotifications(sql, eshop, { warning: warningMails });
        return await read(sql, eshop);
      });
      print(options.json ? JSON.stringify(record(found)) : details(found));
    });
}
