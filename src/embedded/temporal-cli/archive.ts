/**
 * The Temporal CLI from Temporal's own download, as the Temporal SDK's testing package gets it.
 * @module
 */
import { execFile } from 'node:child_process';
import { createWriteStream } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { promisify } from 'node:util';
import { EnvHttpProxyAgent, fetch } from 'undici';
import { EXECUTABLE } from './program.ts';
import { withProgress } from './progress.ts';

const run = promisify(execFile);

/** Until the download's first byte, in milliseconds: a machine that cannot reach the host should not wait long. */
const CONNECT_MS = 5_000;
/** For the whole download of about 50 MB, in milliseconds. */
const TOTAL_MS = 600_000;
const MEGABYTE = 1_000_000;

/**
 * Downloads an archive and takes the program out of it; nothing of it is run.
 * @returns the program, in `into`
 */
export async function downloadArchive(
  url: string,
  into: string,
  env: NodeJS.ProcessEnv,
  report: (text: string) => void,
): Promise<string> {
  // Unset options are left out: the agent would read an explicit `undefined` as "no proxy".
  const agent = new EnvHttpProxyAgent({
    connectTimeout: CONNECT_MS,
    headersTimeout: CONNECT_MS,
    ...(env.HTTPS_PROXY ? { httpsProxy: env.HTTPS_PROXY } : {}),
  });
  const archive = join(into, 'archive');
  let bytes = 0;
  let total = '';
  try {
    await withProgress(
      report,
      'downloaded',
      () => `${Math.round(bytes / MEGABYTE)}${total} MB`,
      async () => {
        const response = await fetch(url, { dispatcher: agent, signal: AbortSignal.timeout(TOTAL_MS) });
        if (!response.ok || response.body === null) throw new Error(`HTTP ${response.status}`);
        const length = Number(response.headers.get('content-length'));
        if (length > 0) total = ` of ${Math.round(length / MEGABYTE)}`;
        const body = Readable.fromWeb(response.body).on('data', (chunk: Uint8Array) => {
          bytes += chunk.length;
        });
        await pipeline(body, createWriteStream(archive));
      },
    );
    // Only the program. Every system since Windows 10 brings a `tar`.
    await run('tar', ['-xf', archive, '-C', into, EXECUTABLE]);
  } finally {
    await rm(archive, { force: true });
    await agent.close().catch(() => {});
  }
  return join(into, EXECUTABLE);
}
