/**
 * How other programs are started: none of them gets our variables, or looks into the folder that we were started
 * in.
 */
import { type ExecFileOptions, execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { childEnvironment } from './child-environment.ts';

/**
 * The folder that all programs run in. In the current folder others may have left files for them: Python imports
 * from it, and a relative entry of PATH means it. Nobody but root can write here.
 */
export const PROGRAMS_FOLDER = '/';

const execute = promisify(execFile);

/**
 * Runs a short program to its end, in {@link PROGRAMS_FOLDER}.
 * @param options `env`: default {@link childEnvironment}
 * @throws Error with its output unless it ends with code 0
 */
export async function runProgram(
  file: string,
  args: readonly string[],
  options: Pick<ExecFileOptions, 'env' | 'timeout' | 'uid' | 'gid'> = {},
): Promise<{ readonly stdout: string; readonly stderr: string }> {
  return await execute(file, args, {
    env: childEnvironment(),
    ...options,
    cwd: PROGRAMS_FOLDER,
    encoding: 'utf8',
  });
}
