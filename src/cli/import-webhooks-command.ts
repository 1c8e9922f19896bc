/** `waybill import-webhooks`: webhooks of another system, out of a file. */
import { Command, Option } from 'commander';
import * as v from 'valibot';
import { createAddressGuard } from '../delivery/address-guard.ts';
import { destinationProblem } from '../delivery/destination.ts';
import { counted } from '../domain/words.ts';
import { type CommandContext, checked, json, jsonSchema } from '../lib/command-line.ts';
import { UserError } from '../lib/user-error.ts';
import { foreignLines, foreignSystems } from './imports/foreign.ts';
import { type ImportLine, openImport } from './imports/import-lines.ts';
import { type Mapping, readMapping } from './imports/mapping.ts';
import { progressBar } from './imports/progress-bar.ts';
import { type ImportResult, refused, webhookImport } from './imports/webhook-import.ts';
import { table } from './layout.ts';
import { withDatabase } from './open-database.ts';
import { eshopSchema } from './options.ts';
import { ownParts } from './own-parts.ts';

const optionsSchema = v.object({
  ...jsonSchema.entries,
  eshop: v.optional(eshopSchema.entries.eshop),
  from: v.optional(v.picklist(foreignSystems, `--from must be ${foreignSystems.join(', ')}.`)),
  map: v.optional(v.string()),
  dryRun: v.optional(v.literal(true), undefined),
});

/** Fields that a CSV cannot write as text. */
const JSON_FIELDS = ['active', 'parameters', 'headers', 'eshop', 'id'];

/** Exit code where a line was refused. */
const REFUSED = 2;
/** Lines of a table, which are held until it is printed. */
const PAGE = 50;

type Shown = ImportResult & { readonly line: number };

function tableOf(results: readonly Shown[], dryRun: boolean): string {
  const words = {
    created: dryRun ? 'would be created' : 'created',
    skipped: 'skipped',
    refused: 'refused',
    unmapped: 'no counterpart',
  };
  const rows = results.map(({ line, outcome, eshop, id, webhookType, method, url, secret, note }) => [
    line,
    words[outcome],
    eshop ?? '',
    id ?? '',
    webhookType ?? '',
    [method, url].filter((word) => word !== null).join(' '),
    [secret === undefined ? null : `secret ${secret}`, note].filter((word) => word !== null).join('; '),
  ]);
  return table(['line', 'result', 'e-shop', 'webhook', 'type', 'url', 'note'], rows);
}

export function importWebhooksCommand({ env, print }: CommandContext): Command {
  return new Command('import-webhooks')
    .argument('<file>', 'NDJSON or CSV with a line of titles; - for standard input')
    .addOption(new Option('--eshop <id>', 'the e-shop of the lines that name none'))
    .addOption(
      new Option('--from <system>', `what ${foreignSystems.join(', ')} answers`).choices([...foreignSystems]),
    )
    .addOption(new Option('--map <file>', "JSON with this system's event types and customers (with --from)"))
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
      const guard = createAddressGuard(config.deliveryAllowCidrs, own);
      const source = await openImport(file, JSON_FIELDS);
      const lines: AsyncIterable<ImportLine> =
        options.from === undefined || mapping === null
          ? source.lines
          : foreignLines(options.from, source.lines, mapping);
      const counts = { created: 0, skipped: 0, refused: 0, unmapped: 0 };
      const bar = progressBar(() => source.progress());
      let held: Shown[] = [];
      const flush = () => {
        if (held.length > 0) bar.aside(() => print(tableOf(held, dryRun)));
        held = [];
      };
      await withDatabase(config.settings, async (sql) => {
        const importOne = webhookImport({
          sql,
          keys: await keys(sql),
          destinationProblem: (url) => destinationProblem(guard, url),
          eshop: options.eshop,
          dryRun,
        });
        for await (const each of lines) {
          const result =
            'problem' in each ? refused(null, each.problem, each.outcome) : await importOne(each.value);
          counts[result.outcome] += 1;
          const shown = { line: each.line, ...result };
          if (options.json) bar.aside(() => print(JSON.stringify({ ...shown, dryRun })));
          else if (held.push(shown) >= PAGE) flush();
          bar.moved();
        }
      });
      flush();
      bar.end();
      const { created, skipped } = counts;
      if (!options.json) {
        print(
          `${counted(created, 'webhook')} ${dryRun ? 'would be created' : 'created'}, ${skipped} skipped, ${counts.refused} refused${counts.unmapped === 0 ? '' : `, ${counts.unmapped} without a counterpart`}.`,
        );
      }
      if (counts.refused > 0)
        throw new UserError(`${counted(counts.refused, 'line was', 'lines were')} refused.`, REFUSED);
    });
}
