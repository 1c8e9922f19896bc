/**
 * `npm run release`: everything of a release except publishing it, which only `.github/workflows/release.yml` does.
 *
 *     npm run release -- prepare 1.0.0   # sets the version, dates the changelog, freezes schema and histories
 *     npm run release -- --dry-run       # tests, then makes and checks what would be published, at any time
 *     npm run release                    # the same, of a tagged tree
 *
 * `--without-tests` leaves out `.ci/run`; `--out FOLDER` says where the artifacts go (dist.release).
 */
import { spawnSync } from 'node:child_process';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import {
  archiveCompose,
  archiveDocs,
  PACKAGES,
  pack,
  writeChecksums,
  writeNotes,
  writeSbom,
} from './artifacts.ts';
import { FROZEN, freezable, frozenProblems, readFrozen } from './frozen.ts';
import { licensedPackages, licenseProblems } from './licenses.ts';
import { unready } from './ready.ts';
import { setVersion } from './version.ts';

const ROOT = fileURLToPath(new URL('../', import.meta.url));

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    'dry-run': { type: 'boolean', default: false },
    'without-tests': { type: 'boolean', default: false },
    out: { type: 'string', default: `${ROOT}dist.release` },
  },
});

const say = (text: string) => console.log(text);
const sayAll = (title: string, lines: readonly string[]) => {
  if (lines.length > 0) console.error([title, ...lines].join('\n  '));
};

async function prepare(version: string | undefined): Promise<number> {
  if (version === undefined || !/^\d+\.\d+\.\d+$/.test(version)) {
    console.error('Which version? npm run release -- prepare 1.0.0');
    return 2;
  }
  const present = await freezable();
  const problems = frozenProblems(present, (await readFrozen()).files);
  sayAll('Nothing was changed:', problems);
  if (problems.length > 0) return 1;
  await setVersion(version, new Date().toISOString().slice(0, 10));
  await writeFile(FROZEN, `${JSON.stringify({ release: version, files: present }, null, 2)}\n`);
  say(
    `${version} is dated, and ${Object.keys(present).length} files are frozen. Look at the changes, then commit them.`,
  );
  return 0;
}

async function release(): Promise<number> {
  const todo = await unready();
  if (!values['dry-run'] && todo.length > 0) {
    sayAll('Not ready for a release:', todo);
    return 1;
  }
  if (!values['without-tests']) {
    const { status } = spawnSync('.ci/run', { cwd: ROOT, stdio: 'inherit' });
    if (status !== 0) return 1;
  }
  const problems = await make(resolve(values.out));
  sayAll('Wrong with what was made:', problems);
  sayAll('To be done before the tag:', todo);
  return problems.length > 0 ? 1 : 0;
}

/** Recreates the folder. Resolves to a sentence for everything that is wrong with what is in it. */
async function make(out: string): Promise<string[]> {
  await rm(out, { recursive: true, force: true });
  await mkdir(out, { recursive: true });
  const problems = licenseProblems(await licensedPackages());
  for (const folder of PACKAGES) {
    const { name, version, filename, files, size } = await pack(folder, out);
    say(`${filename}: ${name} ${version}, ${files.length} files, ${(size / 1024).toFixed(0)} KiB`);
  }
  say(`sbom.cdx.json: ${await writeSbom(out)} components`);
  await writeNotes(out);
  say(`compose.tar.gz: ${await archiveCompose(out)} files`);
  say(`docs.tar.gz: ${await archiveDocs(out)} files`);
  say(`SHA256SUMS: ${(await writeChecksums(out)).length} files in ${out}`);
  return problems;
}

const ended = positionals[0] === 'prepare' ? prepare(positionals[1]) : release();
process.exitCode = await ended.catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : error);
  return 1;
});
