/** The version of the next release, in each place that names it, and the date of its section in the changelog. */
import { readFile, writeFile } from 'node:fs/promises';
import * as v from 'valibot';

const ROOT = new URL('../', import.meta.url);

/** Where the version is written, after the first group; `test/repository/one-truth.test.ts` holds them together. */
export const VERSIONED: readonly (readonly [path: string, place: RegExp])[] = [
  ['package.json', /(^ {2}"version": ")[^"]+/gm],
  ['package-lock.json', /(^(?: {2}|\s+"": \{\s+"name": "[^"]+",\s+)"version": ")[^"]+/gm],
  ['receiver/package.json', /(^ {2}"version": ")[^"]+/gm],
  ['compose.yml', /(image: waybill:)\S+/g],
  ['docker-compose.temporal.yml', /(image: waybill:)\S+/g],
  ['deploy/kubernetes/overlays/example/kustomization.yaml', /(newTag: )\S+/g],
  // Not the suffix of an image, which names the target.
  ['README.md', /(\bwaybill(?:-hq-server-|:))\d+\.\d+\.\d+/g],
  ['docs/handbook/install.md', /(\bwaybill(?:-hq-server-|:))\d+\.\d+\.\d+/g],
  ['docs/guides/quickstart.md', /(\bwaybill:)\d+\.\d+\.\d+/g],
  ['docs/handbook/kubernetes.md', /(\bwaybill:)\d[\w.-]*/g],
];
const CHANGELOG = 'CHANGELOG.md';
const COMPARISON = 'docs/is-it-for-me.md';
/** The status in the comparison until the first release. */
const UNRELEASED = 'no release yet: 1.0.0 will be the first';

const read = (path: string) => readFile(new URL(path, ROOT), 'utf8');

/** The versions that a text names at this place. */
export function versionsIn(text: string, place: RegExp): string[] {
  return [...text.matchAll(place)].map(([whole, before = '']) => whole.slice(before.length));
}

/** The version of `package.json`. */
export async function readVersion(): Promise<string> {
  return v.parse(v.object({ version: v.string() }), JSON.parse(await read('package.json'))).version;
}

export interface Section {
  readonly version: string;
  /** As YYYY-MM-DD; undefined while it is unreleased. */
  readonly date: string | undefined;
  /** Its Markdown, without the heading. */
  readonly text: string;
}

/** @throws Error if the changelog has no section */
export function topSection(changelog: string): Section {
  const found = /^## \[([^\]]+)\](?: - (\S+))?\n([\s\S]*?)(?=^## \[|$(?![\s\S]))/m.exec(changelog);
  if (found === null) throw new Error('The changelog has no section.');
  const [, version = '', date = '', text = ''] = found;
  return { version, date: /^\d{4}-\d\d-\d\d$/.test(date) ? date : undefined, text: text.trim() };
}

export async function readTopSection(): Promise<Section> {
  return topSection(await read(CHANGELOG));
}

/**
 * The changelog with its top section as that of a release.
 * @throws Error if that section is of a release already, or of another version
 */
export function released(changelog: string, version: string, date: string): string {
  const top = topSection(changelog);
  if (top.date !== undefined) throw new Error(`The changelog has nothing since ${top.version}.`);
  if (top.version !== 'Unreleased' && top.version !== version)
    throw new Error(`The top of the changelog is ${top.version}, not ${version}.`);
  return changelog.replace(/^## \[[^\]]+\](?: - \S+)?$/m, `## [${version}] - ${date}`);
}

/**
 * The comparison with others, with Waybill's latest release in its row `status`.
 * @throws Error if it has no such row
 */
export function comparedAs(comparison: string, changelog: string): string {
  const place = /^(\| status \| )[^|]+( \(\[changelog\])/m;
  if (!place.test(comparison)) throw new Error('The comparison has no row for the status.');
  const [, version, date] = /^## \[([^\]]+)\] - (\d{4}-\d\d-\d\d)$/m.exec(changelog) ?? [];
  const status = date === undefined ? UNRELEASED : `${version}, released on ${date}`;
  return comparison.replace(place, `$1${status}$2`);
}

/** Writes version and date into all of their places. */
export async function setVersion(version: string, date: string): Promise<void> {
  const changelog = released(await read(CHANGELOG), version, date);
  const comparison = comparedAs(await read(COMPARISON), changelog);
  for (const [path, place] of VERSIONED) {
    const text = await read(path);
    await writeFile(new URL(path, ROOT), text.replaceAll(place, `$1${version}`));
  }
  await writeFile(new URL(CHANGELOG, ROOT), changelog);
  await writeFile(new URL(COMPARISON, ROOT), comparison);
}
