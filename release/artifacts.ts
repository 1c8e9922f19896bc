/** Makes what a release consists of: packages, bill of materials, notes, compose files, documentation. */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import * as v from 'valibot';
import { imageOf, readOwner } from './owner.ts';
import { readTopSection, readVersion } from './version.ts';

const ROOT = fileURLToPath(new URL('../', import.meta.url));
/** Enough for the list of files of a package, bytes. */
const MAX_OUTPUT_BYTES = 64 * 1024 * 1024;

/**
 * The folders of the packages to publish; test/packages/contents.test.ts and test/receiver/package.test.ts check what
 * the archives hold.
 */
export const PACKAGES = ['.', './receiver'];

/** What starts the image. */
export const COMPOSE = ['compose.yml', 'docker-compose.temporal.yml', 'docker-compose.monitoring.yml'];
/** What these mount from beside them. */
const MOUNTED = ['temporal-dynamic-config.yaml', 'monitoring'];

const Packed = v.tuple([
  v.object({
    name: v.string(),
    version: v.string(),
    filename: v.string(),
    size: v.number(),
    files: v.array(v.object({ path: v.string(), size: v.number() })),
  }),
]);
type Packed = v.InferOutput<typeof Packed>[0];

/** Runs a program in the tree, and resolves to its output. @throws Error with its last lines if it fails */
async function run(file: string, ...args: string[]): Promise<string> {
  // Also within `npm run --silent`, a failure says why.
  const env = { ...process.env, npm_config_loglevel: 'error' };
  const options = { cwd: ROOT, env, maxBuffer: MAX_OUTPUT_BYTES };
  const { stdout } = await promisify(execFile)(file, args, options).catch((error) => {
    const said = `${error.stdout ?? ''}${error.stderr ?? ''}`.trim().split('\n').slice(-20).join('\n');
    throw new Error(`${file} ${args.join(' ')} failed:\n${said}`);
  });
  return stdout;
}

/** Packs the package of a folder, and writes the list of its files beside it. */
export async function pack(folder: string, out: string): Promise<Packed> {
  // The scripts that build it print as well, before npm's own output.
  const text = await run('npm', 'pack', folder, '--json', '--pack-destination', out);
  const [packed] = v.parse(Packed, JSON.parse(text.slice(text.search(/^\[$/m))));
  const list = packed.files.map(({ path, size }) => `${String(size).padStart(9)}  ${path}\n`).sort();
  await writeFile(join(out, `${packed.filename}.files.txt`), list.join(''));
  return packed;
}

const Sbom = v.object({
  bomFormat: v.literal('CycloneDX'),
  components: v.array(v.object({ name: v.string(), version: v.string(), purl: v.string() })),
});

/** Of a manifest, what only a checkout has. */
const OF_CHECKOUT = ['devDependencies', 'workspaces', 'scripts'];

/**
 * Writes npm's bill of materials of an installed server; resolves to the number of components. The manifest lacks the
 * development packages: `--omit dev` would also leave out what those need as well, such as Temporal's SDK.
 */
export async function writeSbom(out: string): Promise<number> {
  const folder = await mkdtemp(join(tmpdir(), 'waybill-sbom-'));
  // The bill has the folder's name for that of the package.
  const server = join(folder, 'server');
  try {
    await mkdir(server);
    const manifest: object = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8'));
    const installed = Object.entries(manifest).filter(([name]) => !OF_CHECKOUT.includes(name));
    await writeFile(join(server, 'package.json'), JSON.stringify(Object.fromEntries(installed)));
    await cp(join(ROOT, 'package-lock.json'), join(server, 'package-lock.json'));
    const npm = (...args: string[]) => run('npm', '--prefix', server, ...args, '--package-lock-only');
    // Takes the others out of the lock file.
    await npm('install', '--ignore-scripts', '--prefer-offline', '--no-audit');
    const text = await npm('sbom', '--sbom-format', 'cyclonedx');
    const { components } = v.parse(Sbom, JSON.parse(text));
    await writeFile(join(out, 'sbom.cdx.json'), text);
    return components.length;
  } finally {
    await rm(folder, { recursive: true });
  }
}

/** The text of a document for a reader elsewhere: its links lead to the tag in the repository. */
export function withLinksTo(repository: string, version: string, markdown: string): string {
  return markdown.replaceAll(/\]\((?![a-z]+:)/g, `](${repository}/blob/v${version}/`);
}

/** Writes the changelog's top section. */
export async function writeNotes(out: string): Promise<void> {
  const { text } = await readTopSection();
  const [{ repository }, version] = [await readOwner(), await readVersion()];
  await writeFile(
    join(out, 'notes.md'),
    `# Waybill ${version}\n\n${withLinksTo(repository, version, text)}\n`,
  );
}

/** A compose file for those who have no checkout: the published image in the place of one that is built. */
export function withImage(compose: string, image: string): string {
  return compose
    .replaceAll('image: waybill:', `image: ${image}:`)
    .replaceAll(/^ *build: .*\n/gm, '')
    .replaceAll(' --build', '');
}

/** Packs paths of a folder, and writes their list beside the archive. Resolves to the number of files. */
async function archive(out: string, name: string, folder: string, ...paths: string[]): Promise<number> {
  const path = join(out, name);
  await run('tar', '-czf', path, '--owner=0', '--group=0', '-C', folder, ...paths);
  const files = (await run('tar', '-tzf', path)).split('\n').filter((file) => /[^/]$/.test(file));
  await writeFile(`${path}.files.txt`, `${files.sort().join('\n')}\n`);
  return files.length;
}

/** Packs the compose files with what they mount, for the published image. Resolves to the number of files. */
export async function archiveCompose(out: string): Promise<number> {
  const image = imageOf(await readOwner());
  const folder = await mkdtemp(join(tmpdir(), 'waybill-compose-'));
  try {
    for (const name of COMPOSE)
      await writeFile(join(folder, name), withImage(await readFile(join(ROOT, name), 'utf8'), image));
    for (const name of MOUNTED) await cp(join(ROOT, name), join(folder, name), { recursive: true });
    return await archive(out, 'compose.tar.gz', folder, ...COMPOSE, ...MOUNTED);
  } finally {
    await rm(folder, { recursive: true });
  }
}

/** Makes the static documentation, and packs it. Resolves to the number of files. */
export async function archiveDocs(out: string): Promise<number> {
  // In a folder of its own: a program that runs in this checkout reads those of the build.
  const folder = await mkdtemp(join(tmpdir(), 'waybill-docs-'));
  try {
    await run('npm', 'run', '--silent', 'docs', '--', folder);
    return await archive(out, 'docs.tar.gz', folder, '.');
  } finally {
    await rm(folder, { recursive: true });
  }
}

/** Writes the SHA-256 of every file of the folder, in the format of `sha256sum --check`. */
export async function writeChecksums(out: string): Promise<string[]> {
  const names = (await readdir(out)).filter((name) => name !== 'SHA256SUMS').sort();
  const lines = names.map(async (name) => {
    const bytes = await readFile(join(out, name));
    return `${createHash('sha256').update(bytes).digest('hex')}  ${name}\n`;
  });
  await writeFile(join(out, 'SHA256SUMS'), (await Promise.all(lines)).join(''));
  return names;
}
