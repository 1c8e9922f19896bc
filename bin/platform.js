// Says in one sentence where Waybill does not run, before it would fail with a stack.
import { existsSync, readdirSync } from 'node:fs';
import { refuse } from './refuse.js';

/** The oldest Node.js: docs/handbook/install.md. */
const OLDEST_NODE = [20, 19];

function hasGlibc() {
  // A report takes a while. Where glibc is, musl may be installed too.
  if (!existsSync('/lib') || !readdirSync('/lib').some((name) => name.startsWith('ld-musl-'))) return true;
  process.report.excludeNetwork = true;
  return process.report.getReport().header.glibcVersionRuntime !== undefined;
}

/** Ends the process on a system that cannot run it. */
export function requirePlatform() {
  const { platform, arch, versions } = process;
  const [major, minor] = versions.node.split('.').map(Number);
  const [oldest, oldestMinor] = OLDEST_NODE;
  if (major < oldest || (major === oldest && minor < oldestMinor))
    refuse(
      `Waybill needs Node.js ${OLDEST_NODE.join('.')} or newer, not ${versions.node}: install Node.js 24.`,
    );
  if (platform === 'win32')
    refuse('Waybill does not run on Windows itself: run it in WSL (wsl --install), or with Docker.');
  if (!['linux', 'darwin'].includes(platform) || !['x64', 'arm64'].includes(arch))
    refuse(`Waybill runs on Linux and macOS, on x64 and arm64, not on ${platform} on ${arch}.`);
  if (platform === 'linux' && !hasGlibc())
    refuse(
      "Waybill does not run on musl, as of Alpine: Temporal's SDK needs glibc. Run it on Debian or another Linux with glibc, or with Docker.",
    );
}
