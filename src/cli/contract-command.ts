/** `waybill contract`: the contract of an e-shop (docs/interface.md, W11). */
import type { Command } from 'commander';
import * as v from 'valibot';
import { noSuchEshop } from '../app/accounts.ts';
import { readSettings } from '../config/config.ts';
import { readContract, updateContract } from '../db/accounts/eshops.ts';
import type { Pool } from '../db/connection/pool.ts';
import { listWebhooks } from '../db/webhooks/webhooks.ts';
import { type Contract, contractOf, contractProblems } from '../domain/contract.ts';
import { payloadVersions } from '../domain/decimal.ts';
import { eventTypeNames } from '../domain/event-types.ts';
import { counted } from '../domain/text.ts';
import { type CommandContext, optional, runs, subcommands, wholeNumber } from '../lib/command-line.ts';
import { UserError } from '../lib/user-error.ts';
import { pairs } from './layout.ts';
import { withDatabase } from './open-database.ts';
import { eshopOption, oneEshop, separated, yesOrNo } from './options.ts';

/** The maximum number of webhooks that a contract can allow. */
const MAX_ESHOP_WEBHOOKS = 10_000;
/** `all`, `none`, or names separated by commas. */
function names<const Names extends readonly string[]>(known: Names) {
  const all = known.join(', ');
  return (name: string) =>
    v.pipe(
      v.string(),
      v.transform((text) => (text === 'all' ? null : text === 'none' ? [] : [...new Set(separated(text))])),
      v.nullable(
        v.array(v.picklist(known, `${name} must be all, none, or some of ${all}, separated by commas.`)),
      ),
    );
}
const changeOptions = v.object({
  eshop: eshopOption,
  types: optional(
    '--types <types>',
    'event types, such as CREATE_ORDER,UPDATE_ORDER; or all, none',
    names(eventTypeNames),
  ),
  payloadVersions: optional(
    '--payload-versions <versions>',
    `${payloadVersions.join(', ')}; or all, none`,
    names(payloadVersions),
  ),
  packingLists: optional('--packing-lists <yes|no>', 'whether webhooks may include packing lists', yesOrNo),
  maxWebhooks: optional(
    '--max-webhooks <n>',
    'maximum number of webhooks',
    wholeNumber(MAX_ESHOP_WEBHOOKS, 0),
  ),
  deleteWebhooks: optional('--delete-webhooks <yes|no>', 'whether it may delete webhooks', yesOrNo),
});
type Change = Omit<v.InferOutput<typeof changeOptions>, 'eshop'>;

/** The given options, by the names of the contract. @throws UserError if there are none */
function changeOf({ types: webhookTypes, packingLists: withPackingLists, ...rest }: Change) {
  const change = { webhookTypes, withPackingLists, ...rest };
  if (Object.values(change).some((value) => value !== undefined)) return change;
  throw new UserError(
    'Nothing to change: give --types, --payload-versions, --packing-lists, --max-webhooks or --delete-webhooks.',
  );
}

/** A contract, and the number of existing webhooks that it would no longer allow. */
type StoredContract = Awaited<ReturnType<typeof readStored>>;

async function readStored(sql: Pool, eshopId: number) {
  const stored = await readContract(sql, eshopId);
  if (stored === null) throw noSuchEshop(eshopId);
  const contract = contractOf(stored);
  const webhooks = await listWebhooks(sql, eshopId, null);
  const forbidden = webhooks.filter((webhook) => contractProblems(contract, webhook).length > 0).length;
  return { contract, beyond: Math.max(forbidden, webhooks.length - contract.maxWebhooks) };
}

export function contractCommand(command: Command, { env, print }: CommandContext): void {
  function show(eshopId: number, { contract, beyond }: StoredContract, json: boolean): void {
    if (json) print(JSON.stringify({ eshopId, ...contract }));
    else print(pairs([['E-shop', eshopId], ...contractRows(contract)]));
    if (json || beyond === 0) return;
    print(
      `${counted(beyond, 'existing webhook')} would no longer be allowed; ${beyond === 1 ? 'it stays as it is' : 'they stay as they are'}.`,
    );
  }

  const part = subcommands(command, {
    show: 'show the contract',
    set: 'change the given options; applies to webhooks that are created or changed from now on',
  });
  runs(part('show'), oneEshop, async ({ eshop, json }) => {
    show(eshop, await withDatabase(readSettings(env), (sql) => readStored(sql, eshop)), json);
  });
  runs(part('set'), changeOptions, async ({ eshop, json, ...given }) => {
    const change = changeOf(given);
    const found = await withDatabase(readSettings(env), async (sql) => {
      if (!(await updateContract(sql, eshop, change))) throw noSuchEshop(eshop);
      return await readStored(sql, eshop);
    });
    show(eshop, found, json);
  });
}

export function contractRows(contract: Contract): (readonly [string, string])[] {
  const { webhookTypes, payloadVersions, withPackingLists, maxWebhooks, deleteWebhooks } = contract;
  const listOf = (names: readonly string[] | null) =>
    names === null ? 'all' : names.length === 0 ? 'none' : names.join(', ');
  const allowed = (yes: boolean) => (yes ? 'allowed' : 'not allowed');
  return [
    ['Types', listOf(webhookTypes)],
    ['Payloads', listOf(payloadVersions)],
    ['Packing lists', allowed(withPackingLists)],
    ['Max. webhooks', String(maxWebhooks)],
    ['Deletions', allowed(deleteWebhooks)],
  ];
}
