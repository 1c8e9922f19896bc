/** The Temporal dev server of a stack, with its database in a file, so that it can be set back. */
import { cp, rm } from 'node:fs/promises';
import { type EmbeddedTemporal, startTemporal } from '../../src/embedded/temporal.ts';
import type { Part } from '../../test/support/harness/part.ts';
import { freezing, signalTree } from '../../test/support/harness/processes.ts';
import { freePort } from '../../test/support/servers/ports.ts';

/** A running dev server. */
export interface TemporalPart extends Part {
  /** Its address without any proxy, as `host:port`. */
  readonly address: string;
  readonly port: number;
  /** The program, used as the operator's command line. */
  readonly binary: string;
  /** Copies its database while it is stopped or frozen. */
  saveCopy(): Promise<void>;
  /** Puts the copy back while it is stopped. */
  restoreCopy(): Promise<void>;
  /** Deletes its database while it is stopped. */
  wipe(): Promise<void>;
}

/** @param databaseFile the file of its database */
export async function startTemporalPart(binary: string, databaseFile: string): Promise<TemporalPart> {
  const preferredPort = await freePort();
  let server: EmbeddedTemporal = await startTemporal({ binary, databaseFile, ui: false, preferredPort });
  const { address, port } = server;
  const files = ['', '-wal', '-shm'].map((ending) => `${databaseFile}${ending}`);
  const wipe = async () => {
    for (const file of files) await rm(file, { force: true });
  };
  const copyAll = async (from: (file: string) => string, to: (file: string) => string) => {
    for (const file of files) await cp(from(file), to(file), { force: true }).catch(() => {});
  };
  return {
    address,
    port,
    binary,
    async kill() {
      signalTree(server.pid(), 'SIGKILL');
      // Otherwise it would be restarted at once.
      await server.stop();
    },
    ...freezing(() => server.pid()),
    stop: () => server.stop(),
    async start() {
      server = await startTemporal({ binary, databaseFile, ui: false, preferredPort: port });
      if (server.port !== port) throw new Error(`Port ${port} of Temporal was taken by another program.`);
    },
    saveCopy: () =>
      copyAll(
        (file) => file,
        (file) => `${file}.copy`,
      ),
    async restoreCopy() {
      await wipe();
      await copyAll(
        (file) => `${file}.copy`,
        (file) => file,
      );
    },
    wipe,
  };
}
