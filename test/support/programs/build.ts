/** The program as it is shipped, built again only when its sources change. */
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const cwd = fileURLToPath(new URL('../../..', import.meta.url));

/**
 * Builds into `dist/` as `npm ci` does, without the type check, unless the build is up to date.
 * @throws Error with the output of what failed
 */
export async function build(): Promise<void> {
  await promisify(execFile)('npm', ['run', '--silent', 'prepare'], { cwd }).catch(
    ({ stdout, stderr }: { stdout?: string; stderr?: string }) => {
      throw new Error(`Waybill could not be built:\n${stdout}${stderr}`);
    },
  );
}
