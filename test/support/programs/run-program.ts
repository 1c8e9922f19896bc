/** Programs that a test runs to their end. */
import { type ExecFileOptions, execFile } from 'node:child_process';
import { promisify } from 'node:util';

/** Answers what it has printed. @throws Error with all of its output if it fails */
export async function runProgram(
  program: string,
  args: readonly string[],
  options: ExecFileOptions = {},
): Promise<string> {
  try {
    const all = { ...options, encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 } as const;
    return (await promisify(execFile)(program, args, all)).stdout;
  } catch (error) {
    const { stdout = '', stderr = '', message = '' } = Object(error);
    throw new Error(`${message}\n${stdout}${stderr}`);
  }
}
