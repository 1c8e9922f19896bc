/** `waybill` at the command line: a mistake is one sentence on stderr and exit code 1. */
import { exitCodeOf, shownError } from '../lib/user-error.ts';
import { waybill } from './commands.ts';

// Whoever reads the output may have read enough of it: `waybill deliveries list | head`.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
  process.exit();
});

try {
  await waybill(process.argv.slice(2), {
    env: process.env,
    print: (line) => process.stdout.write(`${line}\n`),
  });
} catch (error) {
  process.stderr.write(`${shownError(error)}\n`);
  process.exitCode = exitCodeOf(error);
}
