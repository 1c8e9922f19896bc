/**
 * The Temporal dev server of an instance: its workflows under `DATA_DIR`, its UI where people expect it.
 * @module
 */
import { mkdir } from 'node:fs/promises';
import type { DataDir } from './data-dir.ts';
import { endLeftover } from './service.ts';
import { type EmbeddedTemporal, startTemporal, TEMPORAL_STOP_MS } from './temporal.ts';
import { findTemporal } from './temporal-binary.ts';

/** Where people look for Temporal; taken when they are free. */
const STANDARD_PORT = 7233;
const STANDARD_UI_PORT = 8233;

/** A port noted by an earlier start, or the standard one. */
async function noted(dataDir: DataDir, name: string, standard: number): Promise<number> {
  const port = Number(await dataDir.read(name));
  return Number.isInteger(port) && port > 0 ? port : standard;
}

/**
 * Finds or gets the program, ends a server that an earlier process left running, and starts one. If it dies it is
 * started again on the same ports.
 * @param say hears what takes time, and of a server that died
 * @throws Error with one sentence when there is no program, or with the server's last output
 */
export async function startTemporalIn(
  dataDir: DataDir,
  say: (text: string) => void,
): Promise<EmbeddedTemporal> {
  const binary = await findTemporal({ report: say });
  const databaseFile = dataDir.join('temporal', 'temporal.db');
  const pidFile = dataDir.join('temporal', 'pid');
  await mkdir(dataDir.join('temporal'), { recursive: true, mode: 0o700 });
  if (await endLeftover(pidFile, databaseFile, TEMPORAL_STOP_MS)) {
    say('Stopped the Temporal server that an earlier run left behind.');
  }
  const temporal = await startTemporal({
    binary,
    databaseFile,
    pidFile,
    logFile: dataDir.join('temporal', 'temporal.log'),
    preferredPort: await noted(dataDir, 'temporal-port', STANDARD_PORT),
    preferredUiPort: await noted(dataDir, 'temporal-ui-port', STANDARD_UI_PORT),
    onTrouble: say,
  });
  await dataDir.write('temporal-port', `${temporal.port}\n`);
  await dataDir.write('temporal-ui-port', `${temporal.uiPort}\n`);
  return temporal;
}
