/**
 * The Temporal CLI built from its sources with a Go toolchain, which checks what it downloads against Go's own
 * database of checksums.
 * @module
 */
import { execFile, spawn } from 'node:child_process';
import { delimiter, join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { EXECUTABLE, serves } from './program.ts';
import { withProgress } from './progress.ts';

const run = promisify(execFile);

/** Later tags need a sibling module that is not published, so `go install` cannot build them. */
export const GO_VERSION = 'v1.5.1';
const MODULE = 'github.com/temporalio/cli';
const ANSWER_MS = 20_000;

/** Where `go install` puts programs, or null without a Go toolchain. */
export async function goBinDirectory(env: NodeJS.ProcessEnv): Promise<string | null> {
  try {
    const { stdout } = await run('go', ['env', 'GOBIN', 'GOPATH'], { env, timeout: ANSWER_MS });
    const [bin = '', path = ''] = stdout.split('\n');
    const first = path.split(delimiter)[0];
    return bin || (first ? join(first, 'bin') : null);
  } catch {
    return null;
  }
}

/** The program that an earlier `go install` of our version left in that folder. */
export async function installedByGo(directory: string, env: NodeJS.ProcessEnv): Promise<string | null> {
  const path = join(directory, EXECUTABLE);
  try {
    const { stdout } = await run('go', ['version', '-m', path], { env, timeout: ANSWER_MS });
    const built = new RegExp(`\\bmod\\s+${MODULE}\\s+${GO_VERSION}\\s`).test(stdout);
    return built && (await serves(path)) ? path : null;
  } catch {
    return null;
  }
}

/**
 * Builds the program with `go install`, saying every few seconds how far it is.
 * @returns the program, in `into`
 */
export async function buildWithGo(
  into: string,
  env: NodeJS.ProcessEnv,
  report: (text: string) => void,
): Promise<string> {
  let downloaded = 0;
  let compiled = 0;
  let last = '';
  const state = () => `${downloaded} modules fetched, ${compiled} packages compiled`;
  const install = () =>
    new Promise<void>((resolve, reject) => {
      const child = spawn('go', ['install', '-v', `${MODULE}/cmd/temporal@${GO_VERSION}`], {
        // Without cgo it needs no C compiler.
        env: { ...env, GOBIN: into, CGO_ENABLED: '0' },
        stdio: ['ignore', 'ignore', 'pipe'],
      });
      const abandon = () => child.kill('SIGINT');
      process.once('exit', abandon);
      child.once('close', () => process.off('exit', abandon));
      createInterface({ input: child.stderr }).on('line', (line) => {
        if (line.startsWith('go: downloading')) downloaded += 1;
        else if (!line.startsWith('go:') && !line.includes(' ')) compiled += 1;
        else last = line;
      });
      child.once('error', reject);
      child.once('exit', (code, signal) =>
        code === 0
          ? resolve()
          : reject(new Error(last || `go install exited with ${signal ?? `code ${code}`}`)),
      );
    });
  await withProgress(report, 'built', state, install);
  return join(into, EXECUTABLE);
}
