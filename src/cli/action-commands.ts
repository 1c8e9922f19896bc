/** `waybill deliveries try-now|hold|resume|give-up`, by id or for all that match options; and `redeliver`. */
import type { Command } from 'commander';
import * as v from 'valibot';
import { readSettings } from '../config/config.ts';
import { type ActionName, actionNames, MAX_NAME_CHARS, MAX_REASON_CHARS } from '../domain/operator-action.ts';
import { counted } from '../domain/text.ts';
import { argument, type CommandContext, option, runs } from '../lib/command-line.ts';
import { UserError } from '../lib/user-error.ts';
import { type Answer, actOnDeliveries, redeliverEach } from './act-on-deliveries.ts';
import { bulkOptions } from './bulk-options.ts';
import { SOME_FAILED } from './exit-codes.ts';
import { accountName, idOf, text } from './options.ts';

const verbs: Readonly<Record<ActionName, readonly [verb: string, description: string]>> = {
  tryNow: ['try-now', 'make the next attempt now'],
  hold: ['hold', 'make no attempts until resumed; the time limit keeps running'],
  resume: ['resume', 'continue attempts that were held'],
  giveUp: ['give-up', 'make no further attempts: the delivery ends as canceled'],
};

const deliveryIds = v.array(idOf('delivery'));
const options = v.object({
  ids: argument('[ids...]', 'of deliveries', deliveryIds),
  reason: option('--reason <text>', 'the reason, recorded with the delivery', text(MAX_REASON_CHARS)),
  by: option('--by <name>', 'your name; default: the account on this machine', text(MAX_NAME_CHARS)),
  ...bulkOptions.entries,
});

const redeliverOptions = v.object({ ids: argument('<ids...>', 'of deliveries', deliveryIds) });

const EXIT_CODES = 'Exit code: 0 done, 1 could not be done, 2 some were refused.';

const HELP = `
With ids, the result is printed for each delivery. With options instead of ids, the action applies to all open
deliveries that match them: a batch operation of Temporal to those with a workflow, the command itself to those in the
queue. The batch operation runs on its own, and waybill deliveries jobs shows or cancels it.

${EXIT_CODES}`;

/** Prints each answer at once, or all as JSON. @throws UserError if one was refused */
async function printAnswers(
  act: (answered: (answer: Answer) => void) => Promise<void>,
  { print, json }: Pick<CommandContext, 'print'> & { readonly json: boolean },
): Promise<void> {
  const answers: Answer[] = [];
  await act((answer) => {
    answers.push(answer);
    if (!json) print(`${answer.deliveryId}  ${answer.message}`);
  });
  if (json) print(JSON.stringify(answers));
  const refused = answers.filter(({ done }) => !done).length;
  if (refused > 0)
    throw new UserError(`Refused for ${counted(refused, 'delivery', 'deliveries')}.`, SOME_FAILED);
}

function addRedeliver(command: Command, { env, print }: CommandContext): void {
  const part = command
    .command('redeliver')
    .description('deliver the events of ended deliveries again, even if they were delivered')
    .addHelpText('after', `\n${EXIT_CODES}`);
  runs(part, redeliverOptions, ({ ids, json }) =>
    printAnswers((answered) => redeliverEach(readSettings(env), ids, answered), { print, json }),
  );
}

export function addActions(command: Command, { env, print }: CommandContext): void {
  addRedeliver(command, { env, print });
  for (const action of actionNames) {
    const [verb, description] = verbs[action];
    const part = command.command(verb).description(description).addHelpText('after', HELP);
    // The former name of the action.
    if (action === 'tryNow') part.alias('retry');
    runs(part, options, async ({ ids, json, reason = '', by = accountName(), dryRun, yes, ...filter }) => {
      const bulk = Object.values(filter).some((value) => value !== undefined);
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
        const request = { action, filter, input: { reason, by }, dryRun, yes };
        return await actOnAll(settings, request, { print, json });
      }
      const request = { action, ids, by, reason };
      await printAnswers((answered) => actOnDeliveries(settings, request, answered), { print, json });
    });
  }
}
