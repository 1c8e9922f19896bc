/** `waybill import-eshops`: e-shops and users of another system, from a file. */
import type { Command } from 'commander';
import * as v from 'valibot';
import { readSettings } from '../config/config.ts';
import { type CommandContext, flag, runs } from '../lib/command-line.ts';
import { eshopImport, eshopSchema, refusedEshop } from './imports/eshop-import.ts';
import { readImport } from './imports/import-lines.ts';
import { runImport } from './imports/run-import.ts';
import { withDatabase } from './open-database.ts';

const importOptions = v.object({ dryRun: flag('--dry-run', 'print the results, but import nothing') });

export function importEshopsCommand(command: Command, { env, print }: CommandContext): void {
  command
    .argument('<file>', 'NDJSON, or CSV with a header line; - for standard input')
    .addHelpText(
      'after',
      '\nAn e-shop that exists already is skipped. Exit code: 0 none refused, 1 could not be run, 2 some refused.',
    );
  runs(command, importOptions, async ({ dryRun, json }, file) => {
    await withDatabase(readSettings(env), async (sql) =>
      runImport({
        noun: 'e-shop',
        lines: await readImport(file, eshopSchema.entries),
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
        json,
        print,
      }),
    );
  });
}
