/** `waybill` at the command line: a mistake is one sentence on stderr and exit code 1. */
import { withSecretFiles } from '../config/secret-files.ts';
import { withoutUnseen } from '../domain/text.ts';
import { exitCodeOf, shownError } from '../lib/user-error.ts';
import { waybill } from './commands.ts';

/** The exit code of a process ended by SIGPIPE, which Node ignores: its work may be incomplete. */
const BROKEN_PIPE = 141;

/** Texts that are shown only once, such as keys, and have not been written yet. */
const unwritten = new Set<string>();

process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  for (const text of unwritten) process.stderr.write(text);
  // The reader of the output may have read enough: `waybill deliveries list | head`.
  if (error.code === 'EPIPE') process.exit(BROKEN_PIPE);
  process.stderr.write(`The output cannot be written: ${error.message}.\n`);
  process.exit(1);
});

/** Keeps foreign text from controlling the terminal; escaped as in JSON, so that programs read it unchanged. */
const escaped = (text: string) =>
  withoutUnseen(text, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);

try {
  await waybill(process.argv.slice(2), {
    env: withSecretFiles(process.env),
    print: (line, shownOnce = false) => {
      const text = `${escaped(line)}\n`;
      if (shownOnce) unwritten.add(text);
      process.stdout.write(text, (error) => {
        if (!error) unwritten.delete(text);
      });
    },
  });
} catch (error) {
  process.stderr.write(`${escaped(shownError(error))}\n`);
  process.exitCode = exitCodeOf(error);
}
