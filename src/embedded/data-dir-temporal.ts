/** The Temporal dev server of an instance: its workflows under `DATA_DIR`, its UI on the usual port. */
import { mkdir } from 'node:fs/promises';
import type { DataDir } from './data-dir.ts';
import { stopOrphan } from './service.ts';
import { type EmbeddedTemporal, startTemporal, TEMPORAL_STOP_MS } from './temporal.ts';

/** The ports at which people expect Temporal; used if they are free. */
const USUAL_PORT = 7233;
const USUAL_UI_PORT = 8233;

/** A port noted by an earlier start. */
async function notedPort(dataDir: DataDir, name: string, fallback: number): Promise<number> {
  const port = Number(await dataDir.read(name));
  return Number.isInteger(port) && port > 0 ? port : fallback;
}

/**
 * Ends a server that an earlier process left running, and starts one. If it dies, it is restarted on the same ports.
 * @param program the path of the Temporal CLI
 * @param say receives lines about slow steps, and about a server that died
 * @param signal ends the start; nothing is left running then
 * @param meanwhile done while the server starts
 * @throws Error with one sentence if there is no program, or with the server's last output
 */
export async function startTemporalIn(
  dataDir: DataDir,
  program: Promise<string>,
  say: (text: string) => void,
  signal: AbortSignal,
  meanwhile?: () => Promise<unknown>,
): Promise<EmbeddedTemporal> {
  const binary = await program;
  const databaseFile = dataDir.join('temporal', 'temporal.db');
  const pidFile = dataDir.join('temporal', 'pid');
  await mkdir(dataDir.join('temporal'), { recursive: true, mode: 0o700 });
  if (await stopOrphan(pidFile, databaseFile, TEMPORAL_STOP_MS)) {
    say('Stopped the Temporal server that an earlier run left behind.');
  }
  const temporal = await startTemporal({
    binary,
    databaseFile,
    pidFile,
    logFile: dataDir.join('temporal', 'temporal.log'),
    preferredPort: await notedPort(dataDir, 'temporal-port', USUAL_PORT),
    preferredUiPort: await notedPort(dataDir, 'temporal-ui-port', USUAL_UI_PORT),
    onTrouble: say,
    signal,
    meanwhile,
  });
  await dataDir.write('temporal-port', `${temporal.port}\n`);
  await dataDir.write('temporal-ui-port', `${temporal.uiPort}\n`);
  return temporal;
}
