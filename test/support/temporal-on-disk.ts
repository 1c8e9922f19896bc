/** A Temporal dev server whose disk can be set back, as by a power cut or a restored backup. */
import { cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'vitest';
import { type EmbeddedTemporal, startTemporal } from '../../src/embedded/temporal.ts';
import { findTemporal } from '../../src/embedded/temporal-binary.ts';
import { freePort } from './ports.ts';

/** Starts one. `cutPower()` makes it forget everything after `flushed()`. */
export async function startTemporalOnDisk() {
  const directory = await mkdtemp(join(tmpdir(), 'waybill-power-cut-'));
  const binary = await findTemporal({ report: () => {} });
  const databaseFile = join(directory, 'temporal.db');
  let server: EmbeddedTemporal = await startTemporal({
    binary,
    databaseFile,
    ui: false,
    preferredPort: await freePort(),
  });
  const { address, port } = server;
  const files = ['', '-wal'].map((ending) => `${databaseFile}${ending}`);
  const signal = (name: NodeJS.Signals) => process.kill(server.pid() ?? 0, name);
  return {
    address,
    /** Keeps the state of the disk now, in the middle of the server's work, for after the power cut. */
    async flushed() {
      signal('SIGSTOP');
      for (const file of files) await cp(file, `${file}.flushed`);
      signal('SIGCONT');
    },
    async cutPower() {
      signal('SIGKILL');
      await server.stop();
      await rm(`${databaseFile}-shm`, { force: true });
      for (const file of files) await cp(`${file}.flushed`, file);
    },
    async start() {
      server = await startTemporal({ binary, databaseFile, ui: false, preferredPort: port });
      expect(server.port).toBe(port);
    },
    async stop() {
      await server.stop();
      await rm(directory, { recursive: true, force: true });
    },
  };
}
