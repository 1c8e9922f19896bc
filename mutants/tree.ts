/** A copy of the repository to try mutants in. */
import { execFile } from 'node:child_process';
import { cp, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { type Change, withDefect } from './defect.ts';

/** The copy. */
export interface Tree {
  readonly folder: string;
  /** Puts the defect into the copy, runs something, and removes the defect. */
  withDefect<T>(defect: Change, run: () => Promise<T>): Promise<T>;
  remove(): Promise<void>;
}

/**
 * Copies all files that git knows or would add, as they are now; `node_modules` is linked.
 * @param root the folder of the repository
 */
export async function copyTree(root: string): Promise<Tree> {
  const folder = await mkdtemp(join(tmpdir(), 'waybill-mutants-'));
  const listed = ['ls-files', '--cached', '--others', '--exclude-standard', '-z'];
  const { stdout } = await promisify(execFile)('git', listed, { cwd: root, maxBuffer: 64 * 1024 * 1024 });
  for (const file of stdout.split('\0').filter((name) => name !== '')) {
    // Git also lists deleted files until the deletion is committed.
    await cp(join(root, file), join(folder, file)).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOENT') throw error;
    });
  }
  await symlink(join(root, 'node_modules'), join(folder, 'node_modules'), 'dir');
  return {
    folder,
    async withDefect(defect, run) {
      const path = join(folder, defect.file);
      const source = await readFile(path, 'utf8');
      await writeFile(path, withDefect(source, defect));
      try {
        return await run();
      } finally {
        await writeFile(path, source);
      }
    },
    remove: () => rm(folder, { recursive: true, force: true }),
  };
}
