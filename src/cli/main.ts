/**
 * `waybill` at the command line: a mistake is one sentence on stderr and exit code 1.
 * @module
 */
import { exitCodeOf, shownError } from '../user-error.ts';
import { waybillCommand } from './commands.ts';

try {
  await waybillCommand({
    env: process.env,
    print: (line) => process.stdout.write(`${line}\n`),
  }).parseAsync();
} catch (error) {
  process.stderr.write(`${shownError(error)}\n`);
  process.exitCode = exitCodeOf(error);
}
