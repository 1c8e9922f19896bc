/**
 * `waybill` at the command line: a mistake is one sentence on stderr and exit code 1.
 * @module
 */
import { exitCodeOf, shownError } from '../user-error.ts';
import { waybill } from './commands.ts';

try {
  await waybill(process.argv.slice(2), {
    env: process.env,
    print: (line) => process.stdout.write(`${line}\n`),
  });
} catch (error) {
  process.stderr.write(`${shownError(error)}\n`);
  process.exitCode = exitCodeOf(error);
}
