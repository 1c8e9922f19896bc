/** `waybill eshop show|update|notices`. */
import type { Command } from 'commander';
import * as v from 'valibot';
import { noSuchEshop } from '../app/accounts.ts';
import { readSettings } from '../config/config.ts';
import { findEshop, readContract, updateEshop } from '../db/accounts/eshops.ts';
import { listUsers } from '../db/accounts/users.ts';
import type { Pool } from '../db/connection/pool.ts';
import { type ListedNotice, listNotices } from '../db/console/notices.ts';
import { sendMailsAgain } from '../db/notices/outcome.ts';
import { readEshop, setChoice } from '../db/notices/settings.ts';
import { listWebhooks } from '../db/webhooks/webhooks.ts';
import { contractOf } from '../domain/contract.ts';
import { counted } from '../domain/text.ts';
import { type CommandContext, optional, runs } from '../lib/command-line.ts';
import { UserError } from '../lib/user-error.ts';
import { contractRows } from './contract-command.ts';
import { minute, pairs, table } from './layout.ts';
import { withDatabase } from './open-database.ts';
import { email, eshopOption, limitNote, limitOption, name, oneEshop, yesOrNo } from './options.ts';

const changeOptions = v.object({
  eshop: eshopOption,
  name: optional('--name <name>', 'name of the e-shop', name),
  email: optional(
    '--email <address>',
    'e-mail address for notices about its webhooks; mails given up in the last week are sent again',
    email,
  ),
  warningMails: optional(
    '--warning-mails <yes|no>',
    'whether an e-mail warns it before a webhook is deactivated',
    yesOrNo,
  ),
});

type ShownEshop = Awaited<ReturnType<typeof readShown>>;

async function readShown(sql: Pool, eshopId: number) {
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
    ['Recovery notices', notifications.recovered ? 'sent' : 'not sent'],
    [
      'Further addresses',
      notifications.emails
        .map(({ address, confirmedAt }) => (confirmedAt === null ? `${address} (not confirmed)` : address))
        .join(', ') || null,
    ],
    ['Notices to', notifications.url === null ? null : `${notifications.url} (${notifications.format})`],
    ['Created', minute(createdAt)],
    ['API', disabledAt === null ? 'open' : `disabled since ${minute(disabledAt)}`],
    ['Users', users.length === 0 ? 'none' : users.join(', ')],
    ['Webhooks', `${counted(active, 'active webhook')}, ${inactive} inactive`],
    ...contractRows(contract),
  ]);
}

export function addShow(command: Command, { env, print }: CommandContext): void {
  runs(command, oneEshop, async ({ eshop, json }) => {
    const found = await withDatabase(readSettings(env), (sql) => readShown(sql, eshop));
    print(json ? JSON.stringify(record(found)) : details(found));
  });
}

export function addUpdate(command: Command, { env, print }: CommandContext): void {
  runs(command, changeOptions, async ({ eshop, name, email, warningMails, json }) => {
    if (name === undefined && email === undefined && warningMails === undefined) {
      throw new UserError('Nothing to change: give --name, --email or --warning-mails.');
    }
    const { found, sentAgain } = await withDatabase(readSettings(env), async (sql) => {
      if (!(await updateEshop(sql, eshop, { name, email }))) throw noSuchEshop(eshop);
      if (warningMails !== undefined) await setChoice(sql, eshop, { warning: warningMails });
      const resent = email === undefined ? undefined : await sendMailsAgain(sql, eshop);
      return { found: await readShown(sql, eshop), sentAgain: resent };
    });
    if (json) return print(JSON.stringify({ ...record(found), sentAgain }));
    print(details(found));
    if (sentAgain !== undefined && sentAgain > 0)
      print(`${counted(sentAgain, 'mail')} that had been given up will be sent to ${found.email}.`);
  });
}

const noticesOptions = v.object({ eshop: eshopOption, limit: limitOption });

const rowOf = ({ at, kind, webhookId, to, state, sentAt, error }: ListedNotice) => ({
  decided: minute(at),
  kind,
  webhook: webhookId ?? '',
  to: to ?? '(removed)',
  state,
  sent: sentAt === null ? '' : minute(sentAt),
  error: state === 'sent' ? '' : (error ?? ''),
});

export function addNotices(command: Command, { env, print }: CommandContext): void {
  runs(command, noticesOptions, async ({ eshop, limit, json }) => {
    const rows = await withDatabase(readSettings(env), async (sql) => {
      if ((await findEshop(sql, eshop)) === null) throw noSuchEshop(eshop);
      return await listNotices(sql, eshop, { webhookId: null, limit });
    });
    if (json) return print(JSON.stringify(rows));
    if (rows.length === 0) return print('Nothing yet.');
    print(`${table(rows.map(rowOf), { error: 12, to: 12 })}${limitNote(rows.length, limit)}`);
  });
}
