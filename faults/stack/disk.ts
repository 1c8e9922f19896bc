/** A small disk in memory that can be filled. */
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, open, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import type { Shutdown } from '../../src/lib/shutdown.ts';

const run = promisify(execFile);

/** A disk that is mounted. */
export interface SmallDisk {
  /** Leaves no byte free, and takes what becomes free, until it is freed. */
  fill(): Promise<void>;
  free(): Promise<void>;
}

/** Room for a cluster of Postgres with its log, a Temporal dev server, and some rounds. */
const SIZE = '500m';
/** The file that fills it. */
const FILLER = 'filler';
/** In bytes: many at first, and one page at last. */
const PIECES = [1_048_576, 4_096];
/** The time between two looks at whether something has become free, in milliseconds. */
const FILL_INTERVAL_MS = 100;

/** Whether this process may mount a disk. */
export async function canMount(): Promise<boolean> {
  const folder = await mkdtemp(join(tmpdir(), 'waybill-mount-'));
  try {
    await mount(folder);
    await run('umount', [folder]);
    return true;
  } catch {
    return false;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function mount(folder: string): Promise<void> {
  await run('mount', ['-t', 'tmpfs', '-o', `size=${SIZE}`, 'waybill-faults', folder]);
}

/** Mounts a disk in a new folder. @param shutdown receives the function that unmounts it */
export async function mountSmallDisk(folder: string, shutdown: Shutdown): Promise<SmallDisk> {
  await mkdir(folder);
  await mount(folder);
  await shutdown.add(() => run('umount', ['--lazy', folder]));
  const file = join(folder, FILLER);
  let stop = async () => {};
  return {
    async fill() {
      const over = new AbortController();
      await fillUp(file);
      const filling = (async () => {
        while (!over.signal.aborted) {
          await sleep(FILL_INTERVAL_MS, undefined, { signal: over.signal }).catch(() => {});
          if (!over.signal.aborted) await fillUp(file);
        }
      })();
      stop = async () => {
        over.abort();
        await filling;
      };
    },
    async free() {
      await stop();
      await rm(file, { force: true });
    },
  };
}

async function fillUp(file: string): Promise<void> {
  const handle = await open(file, 'a');
  try {
    for (const size of PIECES) while (await hasRoomFor(Buffer.alloc(size), handle));
  } finally {
    await handle.close();
  }
}

async function hasRoomFor(piece: Buffer, handle: { appendFile(data: Buffer): Promise<void> }) {
  try {
    await handle.appendFile(piece);
    return true;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOSPC') return false;
    throw error;
  }
}
