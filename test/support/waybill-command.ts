/**
 * The `waybill` command inside the test's own process: a tenth of the time that a process of its own takes.
 * @module
 */
import { waybill } from '../../src/cli/commands.ts';

/**
 * Runs a command.
 * @returns what it printed
 * @throws what the command threw: for the person at the command line, its message
 */
export async function runWaybill(args: readonly string[], env: Record<string, string>): Promise<string> {
  const lines: string[] = [];
  await waybill(args, { env, print: (line) => lines.push(line) });
  return lines.join('\n');
}
