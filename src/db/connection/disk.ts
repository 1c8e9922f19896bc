/**
 * Watches whether the disk of the database is full. A failed statement shows that it is. Other statements may still
 * find room in existing files, so only writing a new file shows that there is room again.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { DISK_FULL, hasSqlstate } from '../sqlstate.ts';
import type { Pool } from './pool.ts';

/** The time between checks for free space. Too low: more writes to a full disk. Too high: unready for longer. */
const LOOK_MS = 2_000;

/** Whether Postgres can write a new file of a megabyte; true too if that cannot be tried. */
export async function hasRoom(sql: Pool): Promise<boolean> {
  try {
    await sql`create temporary table waybill_room on commit drop as select n from generate_series(1, 30000) n`;
    return true;
  } catch (error) {
    return !hasSqlstate(error, DISK_FULL);
  }
}

interface DiskWatchOptions {
  /** The pools in which failed statements are noticed. */
  readonly pools: readonly Pool[];
  /** A connection for the checks alone. */
  readonly sql: Pool;
  /** Called when the disk is found full, and when there is room again. */
  readonly onChange: (isFull: boolean) => void;
  readonly intervalMs?: number;
}

/** Notices a full disk by statements that fail anyway, and asks nothing while none do. */
export function watchDisk({ pools, sql, onChange, intervalMs = LOOK_MS }: DiskWatchOptions) {
  const stopping = new AbortController();
  const { signal } = stopping;
  let looking: Promise<void> | null = null;

  async function untilRoom(): Promise<void> {
    onChange(true);
    // It does not keep the process alive; only the abort rejects it.
    do await sleep(intervalMs, undefined, { signal, ref: false }).catch(() => {});
    while (!signal.aborted && !(await hasRoom(sql)));
    looking = null;
    if (!signal.aborted) onChange(false);
  }
  for (const pool of pools)
    pool.connections.onError = (code) => {
      if (code === DISK_FULL && !signal.aborted) looking ??= untilRoom();
    };
  return {
    isFull: () => looking !== null,
    /** Waits for a try under way. */
    async stop(): Promise<void> {
      stopping.abort();
      await looking;
    },
  };
}
