/** `waybill import-eshops`: e-shops and users of another system, out of a file. */
import { Command, Option } from 'commander';
import { readSettings } from '../config/config.ts';
import { type CommandContext, checked, json } from '../lib/command-line.ts';
import { eshopFields, eshopImport, refusedEshop } from './imports/eshop-import.ts';
import { openImport } from './imports/import-lines.ts';
import { runImport } from './imports/run-import.ts';
import { withDatabase } from './open-database.ts';
import { dryRunSchema } from './options.ts';

/** Fields that a CSV cannot write as text. */
const JSON_FIELDS = ['users'];

export function importEshopsCommand({ env, print }: CommandContext): Command {
  return new Command('import-eshops')
    .argument('<file>', 'NDJSON or CSV with a line of titles; - for standard input')
    .addOption(new Option('--dry-run', 'say what would happen, and change nothing'))
    .addOption(json())
    .addHelpText(
      'after',
      '\nAn e-shop that is there already is skipped. Exit code: 0 none refused, 1 could not be made, 2 some refused.',
    )
    .action(async (file: string, given: unknown) => {
      const options = checked(dryRunSchema, given);
      const dryRun = options.dryRun === true;
      const source = await openImport(file, { known: eshopFields, json: JSON_FIELDS });
      await withDatabase(readSettings(env), (sql) =>
        runImport({
          noun: 'e-shop',
          source,
          importOne: eshopImport(sql, dryRun),
          refused: refusedEshop,
          cells: ({ eshop, name, apiKey, users, note }) => ({
            'e-shop': eshop ?? '',
            name: name ?? '',
            users: users
              .map(({ username, password }) => [username, password].filter(Boolean).join(' / '))
              .join(', '),
            note: apiKey === undefined ? (note ?? '') : `x-api-key ${apiKey}`,
          }),
          dryRun,
          json: options.json === true,
          print,
        }),
      );
    });
}
