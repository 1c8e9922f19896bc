/** A Temporal dev server whose disk can be set back, as by a power cut or a restored backup. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startTemporalPart } from '../../../faults/stack/temporal.ts';
import { findTemporal } from '../../../src/embedded/temporal-binary.ts';

/** Starts one. `cutPower()` makes it forget everything after `flushed()`. */
export async function startTemporalOnDisk() {
  const directory = await mkdtemp(join(tmpdir(), 'waybill-power-cut-'));
  const server = await startTemporalPart(
    await findTemporal({ report: () => {} }),
    join(directory, 'temporal.db'),
  );
  return {
    address: server.address,
    /** Keeps the state of the disk now, in the middle of the server's work, for after the power cut. */
    async flushed() {
      server.freeze();
      await server.saveCopy();
      server.thaw();
    },
    async cutPower() {
      await server.kill();
      await server.restoreCopy();
    },
    start: () => server.start(),
    async stop() {
      await server.stop();
      await rm(directory, { recursive: true, force: true });
    },
  };
}
