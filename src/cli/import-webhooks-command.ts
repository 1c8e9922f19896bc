/** `waybill import-webhooks`: webhooks of another system, out of a file. */
import { Command, Option } from 'commander';
import * as v from 'valibot';
import { configuredGuard } from '../app/outgoing.ts';
import { type CommandContext, checked, json, jsonSchema } from '../lib/command-line.ts';
import { UserError } from '../lib/user-error.ts';
import { foreignLines } from './imports/foreign.ts';
import { foreignSystems } from './imports/foreign-records.ts';
import { type ImportLine, openImport } from './imports/import-lines.ts';
import { type Mapping, readMapping } from './imports/mapping.ts';
import { runImport } from './imports/run-import.ts';
import { refusedWebhook, webhookFields, webhookImport } from './imports/webhook-import.ts';
import { withDatabase } from './open-database.ts';
import { eshopSchema } from './options.ts';
import { ownParts } from './own-parts.ts';

const optionsSchema = v.object({
  ...jsonSchema.entries,
  eshop: v.optional(eshopSchema.entries.eshop),
  from: v.optional(v.picklist(foreignSystems, `--from must be ${foreignSystems.join(', ')}.`)),
  map: v.optional(v.string()),
  inactive: v.optional(v.literal(true), undefined),
  dryRun: v.optional(v.literal(true), undefined),
});

/** Fields that a CSV cannot write as text. */
const JSON_FIELDS = ['active', 'parameters', 'headers', 'eshop', 'id'];

export function importWebhooksCommand({ env, print }: CommandContext): Command {
  return new Command('import-webhooks')
    .argument('<file>', 'NDJSON or CSV with a line of titles; - for standard input')
    .addOption(new Option('--eshop <id>', 'the e-shop of the lines that name none'))
    .addOption(
      new Option('--from <system>', `what ${foreignSystems.join(', ')} answers`).choices([...foreignSystems]),
    )
    .addOption(new Option('--map <file>', "JSON with this system's event types and customers (with --from)"))
    .addOption(new Option('--inactive', 'make all of them inactive: nothing is sent until each is activated'))
    .addOption(new Option('--dry-run', 'say what would happen, and change nothing'))
    .addOption(json())
    .addHelpText(
      'after',
      '\nA webhook that is there already is skipped. Exit code: 0 none refused, 1 could not be made, 2 some refused.',
    )
    .action(async (file: string, given: unknown) => {
      const options = checked(optionsSchema, given);
      const dryRun = options.dryRun === true;
      if ((options.from === undefined) !== (options.map === undefined)) {
        throw new UserError('--from and --map go together: the map says what the event types are here.');
      }
      const mapping: Mapping | null = options.map === undefined ? null : await readMapping(options.map);
      const { config, own, keys } = await ownParts(env);
      const source = await openImport(file, { known: webhookFields, json: JSON_FIELDS });
      const lines: AsyncIterable<ImportLine> =
        options.from === undefined || mapping === null
          ? source.lines
          : foreignLines(options.from, source.lines, mapping);
      await withDatabase(config.settings, async (sql) =>
        runImport({
          noun: 'webhook',
          source: { ...source, lines },
          importOne: webhookImport({
            sql,
            keys: await keys(sql),
            destinationProblem: configuredGuard(config, own),
            eshop: options.eshop,
            inactive: options.inactive === true,
            dryRun,
          }),
          refused: refusedWebhook,
          cells: ({ eshop, id, webhookType, method, url, secret, note }) => ({
            'e-shop': eshop ?? '',
            webhook: id ?? '',
            type: webhookType ?? '',
            url: [method, url].filter((word) => word !== null).join(' '),
            note: [secret === undefined ? null : `secret ${secret}`, note]
              .filter((word) => word !== null)
              .join('; '),
          }),
          dryRun,
          json: options.json === true,
          print,
        }),
      );
    });
}
