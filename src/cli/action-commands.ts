/** `waybill deliveries retry|hold|resume|give-up`: of single deliveries, or of all that options name. */
import { type Command, Option } from 'commander';
import * as v from 'valibot';
import { readSettings } from '../config/config.ts';
import { LONGEST_NAME, LONGEST_REASON, type SteeringAction } from '../domain/steering.ts';
import { counted } from '../domain/words.ts';
import { type CommandContext, checked, json, jsonSchema } from '../lib/command-line.ts';
import { UserError } from '../lib/user-error.ts';
import { type Answer, actOnDeliveries } from './act-on-deliveries.ts';
import { bulkOptions, bulkSchema, isNamed } from './bulk-options.ts';
import { account } from './options.ts';

const verbs: readonly {
  readonly verb: string;
  readonly action: SteeringAction;
  readonly description: string;
}[] = [
  {
    verb: 'retry',
    action: 'tryNow',
    description: 'make the next attempt at once; if the delivery has ended, redeliver its event',
  },
  {
    verb: 'hold',
    action: 'hold',
    description: 'make no attempts until it is resumed; its time limit keeps running',
  },
  { verb: 'resume', action: 'resume', description: 'continue attempts that were held' },
  {
    verb: 'give-up',
    action: 'giveUp',
    description: 'make no further attempts: the delivery ends as canceled',
  },
];

const idSchema = v.pipe(v.string(), v.uuid('<id> must be the id of a delivery.'), v.toLowerCase());
const optionsSchema = v.object({
  ...jsonSchema.entries,
  ...bulkSchema.entries,
  reason: v.optional(
    v.pipe(
      v.string(),
      v.trim(),
      v.maxLength(LONGEST_REASON, `--reason must have at most ${LONGEST_REASON} characters.`),
    ),
    '',
  ),
  by: v.optional(
    v.pipe(
      v.string(),
      v.trim(),
      v.maxLength(LONGEST_NAME, `--by must have at most ${LONGEST_NAME} characters.`),
    ),
  ),
});

/** When something was asked for that could not be done. */
const REFUSED = 2;

const HELP = `
With ids, the result is printed for each delivery. With options instead of ids, a batch operation of Temporal applies to
all open deliveries that match them. It runs on its own, and waybill deliveries jobs shows or cancels it. It only finds
deliveries that have a workflow of their own, so not those in the queue for their first attempt.
To redeliver one that has ended, use retry with its id; to redeliver many, use waybill recover.

Exit code: 0 done, 1 could not be done, 2 some were refused.`;

export function addActions(command: Command, { env, print }: CommandContext): void {
  for (const { verb, action, description } of verbs) {
    const part = command.command(verb).description(description).argument('[ids...]', 'of deliveries');
    part
      .addOption(new Option('--reason <text>', 'the reason, recorded with the delivery'))
      .addOption(new Option('--by <name>', 'who is asking; default: the account on this machine'));
    for (const option of bulkOptions()) part.addOption(option);
    part
      .addOption(json())
      .addHelpText('after', HELP)
      .action(async (written: readonly unknown[], given: unknown) => {
        const ids = written.map((id) => checked(idSchema, id));
        const {
          json: asJson = false,
          reason,
          by = account(),
          dryRun,
          ...filter
        } = checked(optionsSchema, given);
        const bulk = isNamed(filter);
        if (ids.length > 0 === bulk) {
          throw new UserError(
            `Give ids of deliveries, or options such as --webhook that select them${bulk ? ', but not both' : ''}.`,
          );
        }
        if (dryRun && !bulk)
          throw new UserError(
            '--dry-run cannot be combined with ids: select the deliveries by options, such as --webhook.',
          );
        const settings = readSettings(env);
        if (bulk) {
          const { actOnAll } = await import('./bulk-actions.ts');
          const asked = { action, filter, order: { reason, by }, dryRun: dryRun ?? false };
          return await actOnAll(settings, asked, { print, json: asJson });
        }
        const answers: Answer[] = [];
        await actOnDeliveries(settings, { action, ids, by, reason }, (answer) => {
          answers.push(answer);
          if (!asJson) print(`${answer.deliveryId}  ${answer.sentence}`);
        });
        if (asJson) print(JSON.stringify(answers));
        const refused = answers.filter(({ done }) => !done).length;
        if (refused > 0) {
          throw new UserError(`Refused for ${counted(refused, 'delivery', 'deliveries')}.`, REFUSED);
        }
      });
  }
}
