/**
 * The Temporal CLI built from its sources with a Go toolchain, which checks what it downloads against Go's own
 * database of checksums.
 */
import { delimiter, join } from 'node:path';
import { ChildError, runChild } from '../child.ts';
import type { Getting } from './getting.ts';
import { EXECUTABLE, serves } from './program.ts';
import { withProgress } from './progress.ts';

/** Later tags need a sibling module that is not published, so `go install` cannot build them. */
export const GO_VERSION = 'v1.5.1';
const MODULE = 'github.com/temporalio/cli';
const ANSWER_MS = 20_000;
/** For the whole build, in milliseconds: about three minutes on two idle cores. */
const BUILD_MS = 1_800_000;

/** Where `go install` puts programs, or null without a Go toolchain. */
export async function goBinDirectory({ env, signal }: Getting): Promise<string | null> {
  try {
    const stdout = await runChild('go', ['env', 'GOBIN', 'GOPATH'], { env, signal, timeoutMs: ANSWER_MS });
    const [bin = '', path = ''] = stdout.split('\n');
    const first = path.split(delimiter)[0];
    return bin || (first ? join(first, 'bin') : null);
  } catch {
    signal.throwIfAborted();
    return null;
  }
}

/** The program that an earlier `go install` of our version left in that folder. */
export async function installedByGo(directory: string, { env, signal }: Getting): Promise<string | null> {
  const path = join(directory, EXECUTABLE);
  try {
    const stdout = await runChild('go', ['version', '-m', path], { env, signal, timeoutMs: ANSWER_MS });
    const built = new RegExp(`\\bmod\\s+${MODULE}\\s+${GO_VERSION}\\s`).test(stdout);
    return built && (await serves(path)) ? path : null;
  } catch {
    signal.throwIfAborted();
    return null;
  }
}

/**
 * Builds the program with `go install`, saying every few seconds how far it is.
 * @returns the program, in `into`
 */
export async function buildWithGo(into: string, { env, report, signal }: Getting): Promise<string> {
  let downloaded = 0;
  let compiled = 0;
  let last: string | undefined;
  const state = () => `${downloaded} modules fetched, ${compiled} packages compiled`;
  const install = () =>
    runChild('go', ['install', '-v', `${MODULE}/cmd/temporal@${GO_VERSION}`], {
      // Without cgo it needs no C compiler. What it compiles goes with the folder, even if it is ended.
      env: { ...env, GOBIN: into, GOTMPDIR: into, CGO_ENABLED: '0' },
      signal,
      timeoutMs: BUILD_MS,
      onErrorLine(line) {
        if (line.startsWith('go: downloading')) downloaded += 1;
        else if (!line.startsWith('go:') && !line.includes(' ')) compiled += 1;
        else last = line;
      },
    }).catch((error: unknown) => {
      throw error instanceof ChildError && last !== undefined ? new Error(last) : error;
    });
  await withProgress(report, 'built', state, install);
  return join(into, EXECUTABLE);
}
