/**
 * The `waybill` command inside the test's own process: a tenth of the time that a process of its own takes.
 */
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { waybill } from '../../src/cli/commands.ts';
import { exitCodeOf } from '../../src/lib/user-error.ts';

/** Nobody has an instance there: the one that may run beside the sources is nobody's business. */
const NO_INSTANCE = { DATA_DIR: join(tmpdir(), 'waybill-no-instance') };

/**
 * Runs a command.
 * @returns what it printed
 * @throws what the command threw: for the person at the command line, its message
 */
export async function runWaybill(args: readonly string[], env: Record<string, string>): Promise<string> {
  const lines: string[] = [];
  await waybill(args, { env: { ...NO_INSTANCE, ...env }, print: (line) => lines.push(line) });
  return lines.join('\n');
}

/** Runs a command; answers what it printed, the message of what it threw, and what the process would end with. */
export async function triedWaybill(
  args: readonly string[],
  env: Record<string, string>,
): Promise<{ printed: string; error: string | undefined; code: number }> {
  const lines: string[] = [];
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
