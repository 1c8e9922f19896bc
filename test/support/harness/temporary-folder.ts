import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Shutdown } from '../../../src/lib/shutdown.ts';

/** Makes a folder that is removed with the stack. */
export async function temporaryFolder(shutdown: Shutdown): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'waybill-stack-'));
  await shutdown.add(() => rm(directory, { recursive: true, force: true }));
  // If started by root, Postgres runs as its own user, who has to enter the folder.
  await chmod(directory, 0o755);
  return directory;
}
