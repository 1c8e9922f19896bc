/** The Temporal CLI from Temporal's own download, which the Temporal SDK's testing package uses too. */
import { createWriteStream } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { EnvHttpProxyAgent, fetch } from 'undici';
import { runChild } from '../child.ts';
import { EXECUTABLE, type Getting, withProgress } from './program.ts';

/** The limit until the download begins, in milliseconds: a machine that cannot reach the host should not wait long. */
const FIRST_BYTE_MS = 5_000;
/** The limit without a further byte, in milliseconds: after a stalled download the next source is tried. */
const STALLED_MS = 15_000;
/** The limit for the whole download of about 50 MB, in milliseconds. */
const TOTAL_MS = 600_000;
const MEGABYTE = 1_000_000;

/** Downloads an archive and extracts the program into `into`; nothing of it is run. */
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
        // One limit for all steps before the response: name lookup, proxy, connection, redirects.
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
    // Only the program.
    await runChild('tar', ['-xf', archive, '-C', into, EXECUTABLE], { env, signal, timeoutMs: TOTAL_MS });
  } finally {
    await rm(archive, { force: true });
    await agent.destroy().catch(() => {});
  }
  return join(into, EXECUTABLE);
}
