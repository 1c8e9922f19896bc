/** `waybill console --operator`: the operators' console, for people with the keys of the installation. */
import { type Command, Option } from 'commander';
import * as v from 'valibot';
import { MAX_NAME_CHARS, UNNAMED_OPERATOR } from '../domain/operator-action.ts';
import { type CommandContext, parseOptions, wholeNumber } from '../lib/command-line.ts';
import { untilInterrupted } from '../lib/shutdown.ts';
import { accountName, text } from './options.ts';

const optionsSchema = v.object({
  operator: v.pipe(
    v.optional(v.boolean(), false),
    v.check(
      (operator) => operator,
      'waybill console requires --operator, which opens the console for operators. The console for e-shops is served by the API, at /console.',
    ),
  ),
  port: wholeNumber(65_535, 0)('--port'),
  by: v.pipe(
    text(MAX_NAME_CHARS)('--by'),
    v.check((by) => by !== '', '--by must not be empty.'),
  ),
});

export function consoleCommand(command: Command, { env, print }: CommandContext): void {
  command
    .option('--operator', 'all e-shops, recoveries, workers and the queue, on this machine only')
    .addOption(new Option('--port <port>', 'port on 127.0.0.1').default('0', 'any free one'))
    .option('--by <name>', 'your name, recorded with deliveries; default: the account on this machine')
    .addHelpText(
      'after',
      '\nPrints a link that works once, and serves until Ctrl-C. There is no sign-in, because anyone who can run it has the keys:' +
        '\nlike the other commands, it uses the database and Temporal. To open it from another machine, use a tunnel:' +
        '\nssh -L 9000:127.0.0.1:9000 HOST waybill console --operator --port 9000',
    )
    .action(async (given: unknown) => {
      const { port, by = accountName() } = parseOptions(optionsSchema, given);
      // Loaded only here: the API and Temporal's client take longer to load than everything else.
      const { serveOperatorConsole } = await import('./operator-console.ts');
      await untilInterrupted('Stopped.', (signal) =>
        serveOperatorConsole(env, { port, by: by === '' ? UNNAMED_OPERATOR : by }, print, signal),
      );
    });
}
