/** `waybill` at the command line: a mistake is one sentence on stderr and exit code 1. */
import { withoutUnseen } from '../domain/words.ts';
import { exitCodeOf, shownError } from '../lib/user-error.ts';
import { waybill } from './commands.ts';

/** What a shell says of a process that SIGPIPE ended, which Node ignores: what it had to do may not be done. */
const BROKEN_PIPE = 141;

// Whoever reads the output may have read enough of it: `waybill deliveries list | head`.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
  process.exit(BROKEN_PIPE);
});

/** What others have written reaches no terminal as a command; as JSON writes it, so that programs read it as it was. */
const seen = (text: string) =>
  withoutUnseen(text, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);

try {
  await waybill(process.argv.slice(2), {
    env: process.env,
    print: (line) => process.stdout.write(`${seen(line)}\n`),
  });
} catch (error) {
  process.stderr.write(`${seen(shownError(error))}\n`);
  process.exitCode = exitCodeOf(error);
}
