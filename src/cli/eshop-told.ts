/** `waybill eshop told`: what an e-shop was told of its webhooks, to whom and when. */
import type { Command } from 'commander';
import * as v from 'valibot';
import { noSuchEshop } from '../app/accounts.ts';
import { readSettings } from '../config/config.ts';
import { listTold, type Told } from '../db/console/told.ts';
import { findEshop } from '../db/eshops.ts';
import { type CommandContext, runs } from '../lib/command-line.ts';
import { minute, table } from './layout.ts';
import { withDatabase } from './open-database.ts';
import { eshopOption, limitOption } from './options.ts';

const options = v.object({ eshop: eshopOption, limit: limitOption });

const rowOf = ({ at, kind, webhookId, to, state, toldAt, error }: Told) => ({
  decided: minute(at),
  kind,
  webhook: webhookId ?? '',
  to: to ?? '(removed)',
  state,
  told: toldAt === null ? '' : minute(toldAt),
  error: state === 'told' ? '' : (error ?? ''),
});

export function addTold(command: Command, { env, print }: CommandContext): void {
  const told = command
    .command('told')
    .description('what an e-shop was told of its webhooks, to whom and when');
  runs(told, options, async ({ eshop, limit, json }) => {
    const rows = await withDatabase(readSettings(env), async (sql) => {
      if ((await findEshop(sql, eshop)) === null) throw noSuchEshop(eshop);
      return await listTold(sql, eshop, { webhookId: null, limit });
    });
    if (json) return print(JSON.stringify(rows));
    print(rows.length === 0 ? 'Nothing yet.' : table(rows.map(rowOf)));
  });
}
