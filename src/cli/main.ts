/** `waybill` at the command line: a mistake is one sentence on stderr and exit code 1. */
import { withoutUnseen } from '../domain/words.ts';
import { exitCodeOf, shownError } from '../lib/user-error.ts';
import { waybill } from './commands.ts';

/** What a shell says of a process that SIGPIPE ended, which Node ignores: what it had to do may not be done. */
const BROKEN_PIPE = 141;

/** What is shown once, and has not been written yet. */
const unwritten = new Set<string>();

process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  for (const text of unwritten) process.stderr.write(text);
  // Whoever reads the output may have read enough of it: `waybill deliveries list | head`.
  if (error.code === 'EPIPE') process.exit(BROKEN_PIPE);
  process.stderr.write(`The output cannot be written: ${error.message}.\n`);
  process.exit(1);
});

/** What others have written reaches no terminal as a command; as JSON writes it, so that programs read it as it was. */
const seen = (text: string) =>
  withoutUnseen(text, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);

try {
  await waybill(process.argv.slice(2), {
    env: process.env,
    print: (line, shownOnce = false) => {
      const text = `${seen(line)}\n`;
      if (shownOnce) unwritten.add(text);
      process.stdout.write(text, (error) => {
        if (!error) unwritten.delete(text);
      });
    },
  });
} catch (error) {
  process.stderr.write(`${seen(shownError(error))}\n`);
  process.exitCode = exitCodeOf(error);
}
