/**
 * The `waybill` command within the test's process: a tenth of the time of a separate process.
 */
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { waybill } from '../../../src/cli/commands.ts';
import { exitCodeOf } from '../../../src/lib/user-error.ts';

/** A folder without an instance, so that an instance running beside the sources is left alone. */
const NO_INSTANCE = { DATA_DIR: join(tmpdir(), 'waybill-no-instance') };

/**
 * Runs a command.
 * @returns its output
 * @throws the command's error; its message is for the person at the command line
 */
export async function runWaybill(args: readonly string[], env: Record<string, string>): Promise<string> {
  const lines: string[] = [];
  await waybill(args, { env: { ...NO_INSTANCE, ...env }, print: (line) => lines.push(line) });
  return lines.join('\n');
}

/**
 * Runs a command; answers its output, the message of its error, and the exit code of the process.
 * @param lines of its output so far, for a command that takes time
 */
export async function triedWaybill(
  args: readonly string[],
  env: Record<string, string>,
  lines: string[] = [],
): Promise<{ printed: string; error: string | undefined; code: number }> {
  const { error, code } = await waybill(args, {
    env: { ...NO_INSTANCE, ...env },
    print: (line) => lines.push(line),
  }).then(
    () => ({ error: undefined, code: 0 }),
    (thrown: unknown) => ({
      error: thrown instanceof Error ? thrown.message : String(thrown),
      code: exitCodeOf(thrown),
    }),
  );
  return { printed: lines.join('\n'), error, code };
}
