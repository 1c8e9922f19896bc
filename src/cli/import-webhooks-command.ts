/** `waybill import-webhooks`: webhooks of another system, from a file. */
import type { Command } from 'commander';
import * as v from 'valibot';
import { configuredGuard } from '../app/outgoing.ts';
import { shortTypes } from '../domain/event-types.ts';
import { type CommandContext, flag, optional, runs } from '../lib/command-line.ts';
import { UserError } from '../lib/user-error.ts';
import { foreignLines, readMapping } from './imports/foreign.ts';
import { foreignSystems } from './imports/foreign-records.ts';
import { readImport } from './imports/import-lines.ts';
import { importOptions, runImport } from './imports/run-import.ts';
import { lineEntries, refusedWebhook, webhookImport } from './imports/webhook-import.ts';
import { withDatabase } from './open-database.ts';
import { eshopNumber } from './options.ts';
import { ownParts } from './own-parts.ts';

const webhookOptions = v.object({
  eshop: optional(
    '--eshop <id>',
    'the e-shop of all lines; a line that names another is refused. Default: each line names its own',
    eshopNumber,
  ),
  from: optional(
    '--from <system>',
    `the file has lists from the API of ${foreignSystems.join(', ')}`,
    v.picklist(foreignSystems, `--from must be one of ${foreignSystems.join(', ')}.`),
  ),
  map: optional(
    '--map <file>',
    "JSON with this system's event types and customers (with --from)",
    v.string(),
  ),
  inactive: flag('--inactive', 'create all of them inactive: nothing is sent until each is activated'),
  ...importOptions.entries,
});

export function importWebhooksCommand(command: Command, { env, print }: CommandContext): void {
  command.addHelpText(
    'after',
    '\nA webhook that exists already is skipped. Exit code: 0 none refused, 1 could not be run, 2 some refused.',
  );
  runs(command, webhookOptions, async ({ eshop, from, map, inactive, dryRun, json, file }) => {
    if ((from === undefined) !== (map === undefined)) {
      throw new UserError('--from and --map go together: the map translates the event types.');
    }
    const mapping = map === undefined ? null : await readMapping(map);
    const { config, own, keys } = await ownParts(env);
    await withDatabase(config.settings, async (sql) => {
      const lines = await readImport(file, lineEntries);
      await runImport({
        noun: 'webhook',
        lines: from === undefined || mapping === null ? lines : [...foreignLines(from, lines, mapping)],
        importOne: webhookImport({
          sql,
          keys: await keys(sql),
          destinationProblem: configuredGuard(config, own),
          eshop,
          inactive,
          dryRun,
        }),
        refused: refusedWebhook,
        cells: ({ eshop, id, webhookType, additionalTypes, method, url, secret, note }) => ({
          'e-shop': eshop ?? '',
          webhook: id ?? '',
          type: webhookType === null ? '' : shortTypes([webhookType, ...additionalTypes]),
          url: [method, url].filter((word) => word !== null).join(' '),
          note: [secret === undefined ? null : `secret ${secret}`, note]
            .filter((word) => word !== null)
            .join('; '),
        }),
        dryRun,
        json,
        print,
      });
    });
  });
}
