/** `waybill webhooks create`: one webhook for an e-shop, with as many event types as it needs. */
import type { Command } from 'commander';
import * as v from 'valibot';
import { groupNames, isEventType, typesAbout } from '../domain/event-types.ts';
import type { webhookCreationSchema } from '../domain/webhook.ts';
import { typesFact } from '../domain/webhook-types.ts';
import { type CommandContext, flag, option, optional, requiredOption, runs } from '../lib/command-line.ts';
import { pairs } from './layout.ts';
import { withDatabase } from './open-database.ts';
import { eshopOption, separated, throwUserError } from './options.ts';
import { ownParts } from './own-parts.ts';

/** Names such as "orders", for everything about orders, and "stock-movements". */
const groups = new Map(groupNames.map((name) => [name.replace(' ', '-'), typesAbout(name)]));

const types = v.pipe(
  v.string(),
  v.transform(separated),
  v.check(
    (names) => names.every((word) => groups.has(word) || isEventType(word)),
    `--types must be event types such as CREATE_ORDER, or ${[...groups.keys()].join(', ')} for everything about them, separated by commas.`,
  ),
  v.transform((names) => names.flatMap((word) => groups.get(word) ?? (isEventType(word) ? [word] : []))),
);

/** The API checks the names. */
const parameters = v.pipe(
  v.string(),
  v.transform((text) => Object.fromEntries(separated(text).map((name) => [name, true]))),
);
const headers = v.pipe(v.string(), v.parseJson({}, '--headers must be JSON, such as {"X-Gateway-Key":"…"}.'));

/** All fields of a webhook except its types. A new field needs an option here. */
const fieldOptions = {
  url: requiredOption('--url <url>', 'URL of the receiver', v.string()),
  method: option('--method <method>', 'POST or GET', v.string(), 'POST'),
  payloadVersion: option('--payload-version <version>', 'v2 or v21', v.string(), 'v2'),
  ordering: option('--ordering <ordering>', 'none, record or latest', v.string(), 'none'),
  description: optional('--description <text>', 'a note for the e-shop', v.string()),
  parameters: optional(
    '--parameters <names>',
    'parameters to set to true, separated by commas, such as withPackingLists',
    parameters,
  ),
  skipOwn: flag('--skip-own', 'leave out changes by the e-shop itself'),
  asymmetric: flag('--asymmetric', 'also sign with the key of the e-shop'),
  headers: optional('--headers <json>', 'static headers, such as {"X-Gateway-Key":"…"}', headers),
  secret: optional('--secret <secret>', 'the secret that its receiver has; default: a new one', v.string()),
} satisfies Record<
  Exclude<keyof v.InferInput<typeof webhookCreationSchema>, 'webhookType' | 'additionalTypes' | 'active'>,
  unknown
>;

const createOptions = v.object({
  eshop: eshopOption,
  types: requiredOption(
    // The former name of the option still works.
    '--type, --types <types>',
    `event types, separated by commas; ${[...groups.keys()].join(', ')} for everything about them`,
    types,
  ),
  ...fieldOptions,
  inactive: flag('--inactive', 'send nothing until it is activated'),
});

export function addCreate(command: Command, { env, print }: CommandContext): void {
  runs(
    command,
    createOptions,
    async ({ eshop, types: [webhookType, ...additionalTypes], inactive, json, ...fields }) => {
      // Loaded only here: it takes longer than the other subcommands.
      const [{ configuredGuard }, { webhookImport }] = await Promise.all([
        import('../app/outgoing.ts'),
        import('./imports/webhook-import.ts'),
      ]);
      const { config, own, keys } = await ownParts(env);
      const created = await withDatabase(config.settings, async (sql) => {
        const create = webhookImport({
          sql,
          keys: await keys(sql),
          destinationProblem: configuredGuard(config, own),
          eshop,
          inactive,
          dryRun: false,
        });
        return await create({ ...fields, webhookType, additionalTypes, active: true });
      }).catch(throwUserError);
      const { id, url, secret, note, outcome } = created;
      if (json) return print(JSON.stringify({ webhookId: id, outcome, secret: secret ?? null, note }));
      if (outcome !== 'created' || webhookType === undefined) return print(`Not created: ${note}.`);
      print(
        pairs([
          ['Webhook', id],
          typesFact({ webhookType, additionalTypes }),
          ['URL', url],
          ['Secret', secret === undefined ? 'your own' : `${secret} (shown only now)`],
        ]),
      );
    },
  );
}
