/** The Temporal CLI from Temporal's own download, which the Temporal SDK's testing package uses too. */
import { createWriteStream } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { EnvHttpProxyAgent, interceptors, request } from 'undici';
import { aborted } from '../../lib/wait-or-stop.ts';
import { runProgram } from '../run-program.ts';
import { EXECUTABLE, type FetchContext, TOTAL_MS, withProgress } from './program.ts';
import type { Release } from './release.ts';

/** The limit until the download begins: a machine that cannot reach the host should not wait long. */
const FIRST_BYTE_MS = 5_000;
/** How long a download may stall, in milliseconds: then the next source is tried. */
const STALLED_MS = 15_000;
const MEGABYTE = 1_000_000;
/** The maximum of redirects; today there is one. Too low: a mirror in between fails. Too high: a loop ends later. */
const MAX_REDIRECTS = 5;

/** The proxy that the environment names, as other programs read it: in either case, with or without a scheme. */
function proxyOf(env: NodeJS.ProcessEnv): { readonly httpsProxy: string; readonly noProxy: string } {
  const named = env.https_proxy || env.HTTPS_PROXY || '';
  return {
    httpsProxy: named === '' || named.includes('://') ? named : `http://${named}`,
    noProxy: env.no_proxy || env.NO_PROXY || '',
  };
}

/** Undici's message about a proxy that does not connect; undefined for any other error. */
function refusedByProxy(error: unknown): Error | undefined {
  const [, status] = /^Proxy response \((\d+)\)/.exec(error instanceof Error ? error.message : '') ?? [];
  return status === undefined ? undefined : new Error(`the proxy answered ${status}`);
}

/** Downloads an archive and extracts the program into `into`; nothing is run. */
export async function downloadArchive(
  { version, archiveUrl: url }: Release,
  into: string,
  { env, report, signal, cacheDirectory }: FetchContext,
): Promise<string> {
  report(
    `Temporal dev server: downloading Temporal CLI ${version} (50 MB, once; kept in ${cacheDirectory}) …`,
  );
  const agent = new EnvHttpProxyAgent({ bodyTimeout: STALLED_MS, ...proxyOf(env) });
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
        const cutOff = AbortSignal.any([signal, silent.signal, AbortSignal.timeout(TOTAL_MS)]);
        const dispatcher = agent.compose(interceptors.redirect({ maxRedirections: MAX_REDIRECTS }));
        // `fetch` would hide the proxy's answer, and its signal would not abort a request that waits for
        // a proxy.
        const over = aborted(cutOff).then((): never => {
          throw cutOff.reason;
        });
        const answered = Promise.race([request(url, { dispatcher, signal: cutOff }), over]);
        const { statusCode, headers, body } = await answered
          .catch((error: unknown) => {
            throw refusedByProxy(error) ?? error;
          })
          .finally(() => clearTimeout(timer));
        if (statusCode !== 200) throw new Error(`HTTP ${statusCode}`);
        const length = Number(headers['content-length']);
        if (length > 0) total = ` of ${Math.round(length / MEGABYTE)}`;
        body.on('data', (chunk: Uint8Array) => {
          bytes += chunk.length;
        });
        await pipeline(body, createWriteStream(archive));
      },
      () => `: ${Math.round(bytes / MEGABYTE)}${total} MB`,
    );
    // Extract only the program.
    await runProgram('tar', ['-xf', archive, '-C', into, EXECUTABLE], { env, signal, timeoutMs: TOTAL_MS });
  } finally {
    await rm(archive, { force: true });
    // Its connections end with the process at the latest.
    await agent.destroy().catch(() => {});
  }
  return join(into, EXECUTABLE);
}
