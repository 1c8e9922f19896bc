/** The Temporal CLI from Temporal's own download, as the Temporal SDK's testing package gets it. */
import { createWriteStream } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { EnvHttpProxyAgent, fetch } from 'undici';
import { runChild } from '../child.ts';
import { EXECUTABLE, type Getting, withProgress } from './program.ts';

/** Until the download begins, in milliseconds: a machine that cannot reach the host should not wait long. */
const FIRST_BYTE_MS = 5_000;
/** Without a further byte, in milliseconds: a download that has come to a halt gives way to the next source. */
const STALLED_MS = 15_000;
/** For the whole download of about 50 MB, in milliseconds. */
const TOTAL_MS = 600_000;
const MEGABYTE = 1_000_000;

/** Downloads an archive and takes the program out of it, into `into`; nothing of it is run. */
export async function downloadArchive(
  url: string,
  into: string,
  { env, report, signal }: Getting,
): Promise<string> {
  // Unset options are left out: the agent would read an explicit `undefined` as "no proxy".
  const agent = new EnvHttpProxyAgent({
    bodyTimeout: STALLED_MS,
    ...(env.HTTPS_PROXY ? { httpsProxy: env.HTTPS_PROXY } : {}),
  });
  const archive = join(into, 'archive');
  let bytes = 0;
  let total = '';
  try {
    await withProgress(
      report,
      async () => {
        // One bound for all that comes before: the name, the proxy, the connection, redirections.
        const silent = new AbortController();
        const timer = setTimeout(
          () => silent.abort(new Error(`no answer within ${FIRST_BYTE_MS / 1_000} s`)),
          FIRST_BYTE_MS,
        );
        const response = await fetch(url, {
          dispatcher: agent,
          signal: AbortSignal.any([signal, silent.signal, AbortSignal.timeout(TOTAL_MS)]),
        }).finally(() => clearTimeout(timer));
        if (!response.ok || response.body === null) throw new Error(`HTTP ${response.status}`);
        const length = Number(response.headers.get('content-length'));
        if (length > 0) total = ` of ${Math.round(length / MEGABYTE)}`;
        const body = Readable.fromWeb(response.body).on('data', (chunk: Uint8Array) => {
          bytes += chunk.length;
        });
        await pipeline(body, createWriteStream(archive));
      },
      () => `: ${Math.round(bytes / MEGABYTE)}${total} MB`,
    );
    // Only the program. Every system since Windows 10 brings a `tar`.
    await runChild('tar', ['-xf', archive, '-C', into, EXECUTABLE], { env, signal, timeoutMs: TOTAL_MS });
  } finally {
    await rm(archive, { force: true });
    await agent.destroy().catch(() => {});
  }
  return join(into, EXECUTABLE);
}
