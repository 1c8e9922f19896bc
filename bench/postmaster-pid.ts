import { readFile } from 'node:fs/promises';
import type { DataDir } from '../src/embedded/data-dir.ts';

/** Of the server that runs on a data directory; the file belongs to the user as whom it runs. */
export async function postmasterPid(dataDir: DataDir): Promise<number> {
  return Number.parseInt(await readFile(dataDir.join('postgres', 'postmaster.pid'), 'utf8'), 10);
}
