/** Python with `standardwebhooks` and `cryptography` of PyPI: installed once into its own virtual environment. */
import { execFile } from 'node:child_process';
import { access, mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const PACKAGES = ['standardwebhooks==1.1.0', 'cryptography==48.0.0'];
const cache = fileURLToPath(new URL('../../node_modules/.cache/standardwebhooks/', import.meta.url));
const run = promisify(execFile);

/** The path of the program, or the reason why there is none. */
export type FoundPython =
  | { readonly program: string; readonly reason?: undefined }
  | { readonly program: null; readonly reason: string };

/** Installs it unless that has been done. */
export async function findPython(): Promise<FoundPython> {
  const folder = join(cache, PACKAGES.join('+'));
  const program = join(folder, 'bin', 'python');
  const ready = await access(join(folder, 'ready')).then(
    () => true,
    () => false,
  );
  if (ready) return { program };
  await rm(folder, { recursive: true, force: true });
  await mkdir(cache, { recursive: true });
  try {
    await run('python3', ['-m', 'venv', folder]);
    await run(program, ['-m', 'pip', 'install', '--quiet', ...PACKAGES]);
    await writeFile(join(folder, 'ready'), '');
    return { program };
  } catch (error) {
    const { stderr = '', message = '' } = Object(error);
    const lines = String(stderr || message).trim();
    return { program: null, reason: `Python with venv, or PyPI, is missing: ${lines.split('\n').at(-1)}` };
  }
}
