/** `waybill eshop erase-customer`: the personal data of one customer. */
import { type Command, Option } from 'commander';
import * as v from 'valibot';
import { noSuchEshop } from '../app/accounts.ts';
import { readSettings } from '../config/config.ts';
import type { Settings } from '../config/variables.ts';
import { findEshop } from '../db/accounts/eshops.ts';
import type { Pool } from '../db/connection/pool.ts';
import {
  type CustomerRecords,
  type Erased,
  eraseCustomer,
  findCustomer,
  openDeliveriesOf,
} from '../db/maintenance/erasure.ts';
import { orderTransitions } from '../domain/order/status.ts';
import type { PersonalKind } from '../domain/personal-data.ts';
import { counted } from '../domain/text.ts';
import { type CommandContext, optional, runs } from '../lib/command-line.ts';
import { pollUntil } from '../lib/poll-until.ts';
import { untilInterrupted } from '../lib/shutdown.ts';
import { UserError } from '../lib/user-error.ts';
import { type Answer, actOnDeliveries } from './act-on-deliveries.ts';
import { withPatientDatabase } from './open-database.ts';
import { accountName, confirmationOptions, eshopOption, isDryRun, nonEmptyText } from './options.ts';

const repeated = (flags: string, description: string) =>
  v.pipe(
    v.optional(v.array(v.string()), []),
    v.metadata({
      as: new Option(flags, `${description}; may be repeated`).argParser(
        (id: string, before: readonly string[] | undefined) => [...(before ?? []), id],
      ),
    }),
  );
const eraseOptions = v.object({
  eshop: eshopOption,
  email: optional(
    '--email <address>',
    'all orders with this address, now or in a stored event',
    nonEmptyText,
  ),
  order: repeated('--order <id>', 'this order, with its returns'),
  return: repeated('--return <id>', 'this return, which need not be of an order'),
  ...confirmationOptions,
});

/** The interval between counts of open deliveries, and how long to wait without any ending before giving up. */
const POLLING = { everyMs: 250, patienceMs: 60_000 };

const HELP = `
Name, addresses, e-mail, telephone, pickup point, notes and files become null in the orders, in the snapshots of their events and in the
texts of their returns, and the receivers' responses to their deliveries are erased. Their open deliveries are given up first, which needs
Temporal and a running worker. Orders that are still in progress are refused: cancel or finish them first.`;

export function addErasure(command: Command, { env, print }: CommandContext): void {
  command.addHelpText('after', HELP);
  runs(
    command,
    eraseOptions,
    async ({ eshop, email = null, order: orderIds, return: returnIds, json, ...options }) => {
      if (email === null && orderIds.length + returnIds.length === 0) {
        throw new UserError('Specify --email, --order or --return.');
      }
      const dryRun = isDryRun(options);
      const settings = readSettings(env);
      const done = await withPatientDatabase(settings, async (sql) => {
        if ((await findEshop(sql, eshop)) === null) throw noSuchEshop(eshop);
        const customer = await findCustomer(sql, eshop, { email, orderIds, returnIds });
        requireKnown(
          'order',
          customer.orders.map(({ id }) => id),
          orderIds,
        );
        requireKnown('return', customer.returns, returnIds);
        requireEnded(customer);
        const open = await openDeliveriesOf(sql, eshop, customer);
        const erased = dryRun ? null : await erase(sql, settings, eshop, customer);
        return { customer, open: open.length, erased };
      });
      const orders = done.customer.orders.map(({ id }) => id);
      const { returns } = done.customer;
      if (json) {
        const report = { eshopId: eshop, erased: !dryRun, orders, returns, openDeliveries: done.open };
        return print(JSON.stringify({ ...report, ...done.erased }));
      }
      if (orders.length > 0) print(`Orders: ${orders.join(', ')}`);
      if (returns.length > 0) print(`Returns: ${returns.join(', ')}`);
      print(summary(done.customer, done.open, done.erased));
    },
  );
}

function summary({ orders, returns }: CustomerRecords, open: number, erased: Erased | null): string {
  const records = `${counted(orders.length, 'order')} and ${counted(returns.length, 'return')}`;
  const waiting = counted(open, 'open delivery', 'open deliveries');
  if (erased === null) return `${records}, with ${waiting}. Nothing was changed (dry run).`;
  return `Erased in ${records}, in ${counted(erased.events, 'event')} and ${counted(erased.responses, 'response')}; ${waiting} given up first.`;
}

function requireKnown(kind: PersonalKind, found: readonly string[], wanted: readonly string[]): void {
  const foundIds = new Set(found);
  const missing = wanted.find((id) => !foundIds.has(id));
  if (missing !== undefined) throw new UserError(`There is no ${kind} ${missing}.`);
}

/** The warehouse needs the address of an order until it has ended. */
function requireEnded({ orders }: CustomerRecords): void {
  const underWay = orders.filter(({ status }) => orderTransitions[status].length > 0);
  if (underWay.length === 0) return;
  const named = underWay.map(({ id, status }) => `${id} (${status})`).join(', ');
  throw new UserError(
    `${counted(underWay.length, 'order is', 'orders are')} still in progress: ${named}. Cancel or finish ${underWay.length === 1 ? 'it' : 'them'} first.`,
  );
}

/** Waiting for a paused workflow would never end. */
function requireUnpaused({ deliveryId, paused, message }: Answer): void {
  if (paused === true) throw new UserError(`Nothing was erased: delivery ${deliveryId}: ${message}`);
}

/** Gives up open deliveries, waits until they have ended, and erases. */
async function erase(
  sql: Pool,
  settings: Settings,
  eshopId: number,
  customer: CustomerRecords,
): Promise<Erased> {
  return await untilInterrupted('It was interrupted; run it again.', async (signal) => {
    const requestedIds = new Set<string>();
    let open: readonly string[] = [];
    let least = Number.POSITIVE_INFINITY;
    /** The result of erasing, or the number of open deliveries. */
    async function look(): Promise<Erased | number> {
      open = await openDeliveriesOf(sql, eshopId, customer);
      const erased = open.length === 0 ? await eraseCustomer(sql, eshopId, customer) : null;
      if (erased !== null) return erased;
      const ids = open.filter((id) => !requestedIds.has(id));
      for (const id of ids) requestedIds.add(id);
      if (ids.length > 0) {
        const request = {
          action: 'giveUp',
          ids,
          by: accountName(),
          reason: 'personal data erasure',
        } as const;
        await actOnDeliveries(settings, request, requireUnpaused);
      }
      least = Math.min(least, open.length);
      return least;
    }
    const erased = await pollUntil(look, (seen) => typeof seen !== 'number', { ...POLLING, signal });
    if (typeof erased !== 'number') return erased;
    throw new UserError(
      `${counted(open.length, 'delivery is', 'deliveries are')} still open, such as ${open[0]}. Nothing was erased: check that a worker is running, then run it again.`,
    );
  });
}
