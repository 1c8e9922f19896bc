/**
 * `npm run cluster`: Temporal as `docker-compose.temporal.yml` sets it up, without containers, in a temporary folder,
 * until Ctrl-C. Needs a Go toolchain the first time, and some minutes.
 */
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stopOnInterruption } from '../../src/lib/shutdown.ts';
import { startCluster } from './cluster.ts';

const shutdown = stopOnInterruption();
try {
  const directory = await mkdtemp(join(tmpdir(), 'waybill-cluster-'));
  await shutdown.add(() => rm(directory, { recursive: true, force: true }), true);
  // If started by root, Postgres runs as its own user, who has to enter the folder.
  await chmod(directory, 0o755);
  const { address } = await startCluster(directory, console.error, shutdown);
  console.log(`TEMPORAL_ADDRESS=${address}`);
  setInterval(() => {}, 60_000);
} catch (error) {
  await shutdown.stop();
  throw error;
}
