/**
 * `npm run licenses`: the licenses of all packages of the lock file, counted, and those that nobody has allowed.
 * What is shipped has permissive licenses; what only tests and builds use may ask for its own changes back (MPL).
 */
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import * as v from 'valibot';

const LOCK = new URL('../package-lock.json', import.meta.url);

const PERMISSIVE = [
  '0BSD',
  'Apache-2.0',
  'BlueOak-1.0.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'CC0-1.0',
  'ISC',
  'MIT',
  'MIT-0',
  'PSF-2.0',
  'Python-2.0',
  'Unlicense',
];
const FOR_DEVELOPMENT = [...PERMISSIVE, 'MPL-2.0'];

/** Packages whose manifest names no license by its SPDX identifier, and what was found in the package. */
const READ_BY_HAND: Readonly<Record<string, string>> = {
  // Data about browsers, behind the workflows' bundler: not shipped in a bundle, and nothing of it is changed.
  'caniuse-lite': 'CC-BY-4.0',
  jsonify: 'Public Domain',
  nub: 'MIT/X11',
  // Its README: "Unlicense - public domain."
  unionfs: 'none',
};

const Lock = v.object({
  packages: v.record(
    v.string(),
    v.object({
      license: v.optional(v.string(), 'none'),
      link: v.optional(v.boolean(), false),
      dev: v.optional(v.boolean(), false),
    }),
  ),
});

interface Licensed {
  /** As it is installed: the last folder of its path. */
  readonly name: string;
  /** An SPDX expression; "none" if the package names none. */
  readonly license: string;
  /** Only for tests and builds. */
  readonly dev: boolean;
}

/** Every package of the lock file, without this one and its workspaces. */
export async function licensedPackages(): Promise<Licensed[]> {
  const { packages } = v.parse(Lock, JSON.parse(await readFile(LOCK, 'utf8')));
  return Object.entries(packages).flatMap(([path, { license, link, dev }]) => {
    const [, name] = /^.*node_modules\/(.+)$/.exec(path) ?? [];
    return name === undefined || link ? [] : [{ name, license, dev }];
  });
}

/** An alternative is enough of "A OR B", and all are needed of "A AND B". */
function isAllowed(expression: string, allowed: readonly string[]): boolean {
  return expression
    .replaceAll(/[()]/g, '')
    .split(' OR ')
    .some((choice) => choice.split(' AND ').every((license) => allowed.includes(license)));
}

/** A sentence for each package whose license is not allowed. */
export function licenseProblems(packages: readonly Licensed[]): string[] {
  return packages
    .filter(({ name, license, dev }) => {
      if (READ_BY_HAND[name] === license) return false;
      return !isAllowed(license, dev ? FOR_DEVELOPMENT : PERMISSIVE);
    })
    .map(({ name, license }) => `${name} is under ${license}: not allowed in release/licenses.ts.`);
}

/** How many packages are under each license, the most common first. */
export function licenseCounts(packages: readonly Licensed[]): [string, number][] {
  const counts = new Map<string, number>();
  for (const { license } of packages) counts.set(license, (counts.get(license) ?? 0) + 1);
  return [...counts].sort(([a, many], [b, few]) => few - many || a.localeCompare(b));
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const packages = await licensedPackages();
  const shipped = packages.filter(({ dev }) => !dev);
  console.log(`${packages.length} packages, ${shipped.length} of them shipped or for all platforms:`);
  for (const [license, count] of licenseCounts(packages))
    console.log(`${String(count).padStart(5)}  ${license}`);
  const problems = licenseProblems(packages);
  for (const problem of problems) console.error(problem);
  process.exitCode = problems.length > 0 ? 1 : 0;
}
