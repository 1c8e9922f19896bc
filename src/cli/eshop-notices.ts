/** `waybill eshop notices`: the notices about an e-shop's webhooks, their recipients and their times. */
import type { Command } from 'commander';
import * as v from 'valibot';
import { noSuchEshop } from '../app/accounts.ts';
import { readSettings } from '../config/config.ts';
import { type ListedNotice, listNotices } from '../db/console/notices.ts';
import { findEshop } from '../db/eshops.ts';
import { type CommandContext, runs } from '../lib/command-line.ts';
import { minute, table } from './layout.ts';
import { withDatabase } from './open-database.ts';
import { eshopOption, limitOption } from './options.ts';

const options = v.object({ eshop: eshopOption, limit: limitOption });

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
  const notices = command
    .command('notices')
    .description("the notices about an e-shop's webhooks, their recipients and their times");
  runs(notices, options, async ({ eshop, limit, json }) => {
    const rows = await withDatabase(readSettings(env), async (sql) => {
      if ((await findEshop(sql, eshop)) === null) throw noSuchEshop(eshop);
      return await listNotices(sql, eshop, { webhookId: null, limit });
    });
    if (json) return print(JSON.stringify(rows));
    print(rows.length === 0 ? 'Nothing yet.' : table(rows.map(rowOf), { error: 12, to: 12 }));
  });
}
