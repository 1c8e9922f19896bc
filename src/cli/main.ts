/**
 * `waybill` at the command line: a mistake is one sentence on stderr and exit code 1.
 * @module
 */
import { ConfigError } from '../config.ts';
import { waybillCommand } from './commands.ts';
import { CommandError } from './open-database.ts';

try {
  await waybillCommand({
    env: process.env,
    print: (line) => process.stdout.write(`${line}\n`),
  }).parseAsync();
} catch (error) {
  const foreseen = error instanceof CommandError || error instanceof ConfigError;
  process.stderr.write(`${foreseen ? error.message : error instanceof Error ? error.stack : error}\n`);
  process.exitCode = error instanceof CommandError ? error.exitCode : 1;
}
