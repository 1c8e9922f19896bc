/** `waybill examine`: examines the receiver of a webhook, as the API does. */
import type { Command } from 'commander';
import * as v from 'valibot';
import { exitCodeOf } from '../../receiver/src/examination/examine.ts';
import { table } from '../../receiver/src/examination/table.ts';
import { counted } from '../domain/text.ts';
import { argument, type CommandContext, runs } from '../lib/command-line.ts';
import { untilInterrupted } from '../lib/shutdown.ts';
import { UserError } from '../lib/user-error.ts';
import { testedType, webhookNumber } from './options.ts';

const examineOptions = v.object({
  id: argument('<webhook>', 'its number', webhookNumber),
  type: testedType,
});

export function examineCommand(command: Command, { env, print }: CommandContext): void {
  command.addHelpText(
    'after',
    '\nSends about twenty test requests from this machine, not from a worker; they have no consequences.' +
      '\nExit code: 0 nothing failed, 1 could not be run, 2 something failed, 3 inconclusive.',
  );
  runs(command, examineOptions, async ({ json, id, type }) => {
    // Loaded only here: the sender takes longer to load than the other commands.
    const { examineReceiverOf } = await import('./send-test.ts');
    const examination = await untilInterrupted(`Stopped. Webhook ${id} can be examined again.`, (signal) =>
      examineReceiverOf(env, { id, type }, signal),
    );
    print(json ? JSON.stringify(examination) : table(examination));
    const exitCode = exitCodeOf(examination);
    if (exitCode === 0) return;
    const failed = examination.rows.filter(({ verdict }) => verdict === 'fail').length;
    const problem =
      failed > 0
        ? `The receiver of webhook ${id} has ${counted(failed, 'fault')}.`
        : `Time ran out before webhook ${id} was fully examined.`;
    throw new UserError(problem, exitCode);
  });
}
