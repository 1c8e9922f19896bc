/** What a release consists of, made in one folder and looked at: packages, bill of materials, notes, compose files, documentation. */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { copyFile, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import * as v from 'valibot';
import { readTopSection } from './version.ts';

const ROOT = fileURLToPath(new URL('../', import.meta.url));
/** Enough for the list of files of a package, bytes. */
const MAX_OUTPUT_BYTES = 64 * 1024 * 1024;

/** A package to publish: its folder, what it must contain, what it must not, and how large it may be. */
export interface Package {
  readonly folder: string;
  readonly needs: readonly string[];
  readonly without: RegExp;
  readonly maxUnpackedMib: number;
}

/** Tests, tools, sources, and whatever is left in a working tree. */
const NOT_SHIPPED =
  /^(test|src|bench|faults|mutants|demo|release|\.[^/]+)\/|(^|\/)\.env|\.(test|generated)\.tsx?$|\.pem$/;

export const PACKAGES: readonly Package[] = [
  {
    folder: '.',
    needs: ['LICENSE', 'README.md', 'bin/waybill.js', 'dist/src/main.js', 'package.json'],
    without: NOT_SHIPPED,
    maxUnpackedMib: 64,
  },
  {
    folder: './receiver',
    needs: ['README.md', 'dist/cli.js', 'dist/index.d.ts', 'dist/index.js', 'package.json'],
    without: NOT_SHIPPED,
    maxUnpackedMib: 8,
  },
];

/** Files that start the image, with its version; those that are in the tree. */
const COMPOSE = ['compose.yml', 'docker-compose.temporal.yml', 'docker-compose.monitoring.yml'];

const Packed = v.tuple([
  v.object({
    name: v.string(),
    version: v.string(),
    filename: v.string(),
    size: v.number(),
    unpackedSize: v.number(),
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

/** What is wrong with a packed package; empty if nothing is. */
export function packageProblems(packed: Packed, { needs, without, maxUnpackedMib }: Package): string[] {
  const paths = packed.files.map(({ path }) => path);
  const missing = needs.filter((path) => !paths.includes(path)).map((path) => `has no ${path}`);
  const extra = paths.filter((path) => without.test(path)).map((path) => `contains ${path}`);
  const mib = packed.unpackedSize / 1024 / 1024;
  const large =
    mib > maxUnpackedMib ? [`has ${mib.toFixed(1)} MiB unpacked, more than ${maxUnpackedMib}`] : [];
  return [...missing, ...extra, ...large].map((problem) => `${packed.filename} ${problem}.`);
}

/** Packs one, and writes the list of its files beside it. */
export async function pack(one: Package, out: string): Promise<{ packed: Packed; problems: string[] }> {
  // The scripts that build it print as well, before npm's own output.
  const text = await run('npm', 'pack', one.folder, '--json', '--pack-destination', out);
  const [packed] = v.parse(Packed, JSON.parse(text.slice(text.search(/^\[$/m))));
  const list = packed.files.map(({ path, size }) => `${String(size).padStart(9)}  ${path}\n`).sort();
  await writeFile(join(out, `${packed.filename}.files.txt`), list.join(''));
  return { packed, problems: packageProblems(packed, one) };
}

const Sbom = v.object({
  bomFormat: v.literal('CycloneDX'),
  components: v.array(v.object({ name: v.string(), version: v.string(), purl: v.string() })),
});

/** Writes the bill of materials of what is installed without development's packages, by npm. Resolves to the number of components. */
export async function writeSbom(out: string): Promise<number> {
  const text = await run('npm', 'sbom', '--sbom-format', 'cyclonedx', '--omit', 'dev', '--package-lock-only');
  const { components } = v.parse(Sbom, JSON.parse(text));
  await writeFile(join(out, 'sbom.cdx.json'), text);
  return components.length;
}

/** Writes the changelog's top section. */
export async function writeNotes(out: string): Promise<void> {
  const { version, text } = await readTopSection();
  await writeFile(join(out, 'notes.md'), `# Waybill ${version}\n\n${text}\n`);
}

export async function copyComposeFiles(out: string): Promise<string[]> {
  const present = COMPOSE.filter((name) => existsSync(join(ROOT, name)));
  for (const name of present) await copyFile(join(ROOT, name), join(out, name));
  return present;
}

/** Makes the static documentation, if the tree has a script for it. Resolves to whether it has. */
export async function archiveDocs(out: string): Promise<boolean> {
  const { scripts } = v.parse(
    v.object({ scripts: v.record(v.string(), v.string()) }),
    JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8')),
  );
  if (!('docs' in scripts)) return false;
  await run('npm', 'run', '--silent', 'docs');
  await run('tar', '-czf', join(out, 'docs.tar.gz'), '-C', join(ROOT, 'dist/docs'), '.');
  return true;
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
