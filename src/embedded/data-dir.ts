/** `DATA_DIR`: the files of one instance on one machine. */
import { randomBytes } from 'node:crypto';
import { access, chmod, constants, open, rename, rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import * as v from 'valibot';
import { makeFolder } from '../lib/make-folder.ts';
import { reasonOf, UserError } from '../lib/user-error.ts';
import { requireOwner } from './own-files.ts';

/** Written by a running instance, so that the `waybill` command finds it. */
const instanceSchema = v.object({
  databaseUrl: v.optional(v.string()),
  temporalAddress: v.optional(v.string()),
  temporalUiUrl: v.optional(v.string()),
  apiUrl: v.optional(v.string()),
  /** By role: the metrics of its processes, and of Temporal's SDK in them. */
  metricsUrls: v.optional(v.record(v.string(), v.array(v.string()))),
});
/** The addresses of an instance's parts. */
export type Instance = v.InferOutput<typeof instanceSchema>;

/** Parses `instance.json`; empty if it is missing or broken. */
export function parseInstance(text: string): Instance {
  const result = v.safeParse(v.pipe(v.string(), v.parseJson(), instanceSchema), text);
  return result.success ? result.output : {};
}

/** One instance's folder. */
export type DataDir = ReturnType<typeof dataDirAt>;

/** Opens the folder; creates it, for its owner alone, if it is missing. @throws UserError if it cannot be used */
export async function openDataDir(directory: string): Promise<DataDir> {
  const dataDir = dataDirAt(directory, false);
  try {
    await makeFolder(dataDir.path, 0o700);
    await access(dataDir.path, constants.W_OK);
  } catch (error) {
    throw new UserError(
      `DATA_DIR must be a folder that can be created or written to, not "${directory}": ${reasonOf(error)}.`,
    );
  }
  return dataDir;
}

/**
 * Opens the folder for reading; it may not exist, and is not created.
 * @param trustsAll whether to read any user's files; default: if we are root, as the instance may be another user's
 */
export function dataDirAt(directory: string, trustsAll = process.getuid?.() === 0) {
  const path = resolve(directory);
  /** Makes the names of its files outlast a power cut. */
  async function syncFolder(): Promise<void> {
    const folder = await open(path);
    await folder.sync().finally(() => folder.close());
  }
  const dataDir = {
    path,
    join: (...parts: string[]) => join(path, ...parts),
    /** Reads a file of the folder, or creates it with mode 0600. @throws UserError as `read` does */
    async readOrCreate(name: string, make: () => string): Promise<string> {
      const stored = await dataDir.read(name);
      if (stored !== undefined) return stored;
      const created = make();
      await dataDir.write(name, created);
      return created;
    },
    /**
     * @returns undefined if there is no such file
     * @throws UserError if it cannot be read, or belongs to another user, who may have planted it
     */
    async read(name: string): Promise<string | undefined> {
      const unreadable = ({ message }: Error): never => {
        throw new UserError(`${join(path, name)} cannot be read: ${message}.`);
      };
      const file = await open(join(path, name)).catch((error: NodeJS.ErrnoException) => {
        // Any other error must not pass for a missing file: a new key would replace the old one.
        return error.code === 'ENOENT' || error.code === 'ENOTDIR' ? undefined : unreadable(error);
      });
      if (file === undefined) return undefined;
      try {
        // This is the owner of the opened file, not of another file that may have its name by now.
        if (!trustsAll) requireOwner(join(path, name), await file.stat());
        return await file.readFile('utf8').catch(unreadable);
      } finally {
        await file.close();
      }
    },
    /** Replaces a file in one step, which a power cut does not undo. */
    async write(name: string, content: string, mode = 0o600): Promise<void> {
      const temporary = join(path, `.${name}.${randomBytes(4).toString('hex')}`);
      try {
        await writeFile(temporary, content, { mode, flush: true });
        await chmod(temporary, mode);
        await rename(temporary, join(path, name));
      } catch (error) {
        await rm(temporary, { force: true }).catch(() => {});
        throw error;
      }
      await syncFolder();
    },
    async remove(name: string): Promise<void> {
      await rm(join(path, name), { force: true });
      await syncFolder();
    },
    async readInstance(): Promise<Instance> {
      return parseInstance((await dataDir.read('instance.json')) ?? '');
    },
    async writeInstance(instance: Instance): Promise<void> {
      await dataDir.write('instance.json', `${JSON.stringify(instance, null, 2)}\n`);
    },
  };
  return dataDir;
}
