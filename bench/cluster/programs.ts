/** The full Temporal server and its tool for SQL schemas, built from Temporal's Go modules once and kept. */
import { access, mkdir, mkdtemp, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { runChild } from '../../src/embedded/child.ts';
import { userCacheDirectory } from '../../src/embedded/temporal-binary.ts';

const MODULE = 'go.temporal.io/server';
/** The time-out of the whole build, in milliseconds: it takes about five minutes of both cores. */
const BUILD_MS = 3_600_000;

/** The paths of the programs. */
export interface ServerPrograms {
  readonly server: string;
  readonly sqlTool: string;
}

/**
 * Finds the programs, or builds them.
 * @param version the version of the server: "1.32.0"
 * @param say receives a line of text for each long step
 * @throws Error if they have to be built and there is no Go toolchain
 */
export async function serverPrograms(
  version: string,
  say: (text: string) => void,
  signal: AbortSignal,
): Promise<ServerPrograms> {
  const cache = userCacheDirectory();
  const place = join(cache, `temporal-server-${version}`);
  const programs = { server: join(place, 'server'), sqlTool: join(place, 'sql') };
  const kept = await access(programs.sqlTool).then(
    () => true,
    () => false,
  );
  if (kept) return programs;
  say(`building Temporal server ${version} with go install (once; some minutes; kept in ${place}) …`);
  await mkdir(cache, { recursive: true });
  const work = await mkdtemp(join(cache, 'building-temporal-server-'));
  try {
    const packages = ['server', 'tools/sql'].map((path) => `${MODULE}/cmd/${path}@v${version}`);
    await runChild('go', ['install', ...packages], {
      env: { ...process.env, GOBIN: work, GOTMPDIR: work, CGO_ENABLED: '0' },
      signal,
      timeoutMs: BUILD_MS,
    });
    await rename(work, place);
    return programs;
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}
