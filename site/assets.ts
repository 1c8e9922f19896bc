/** What pages load: all of it from the same folder, each file with a name that changes with its content. */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { type Asset, icon, packagedScript, pageScript, styleSheet } from '../src/theme/assets.ts';

/** The first part of every address; links become relative when a page is written (`relative.ts`). */
export const DOCS = '/docs';

const own = (name: string) => readFileSync(new URL(`assets/${name}`, import.meta.url), 'utf8');

const assets = {
  'docs.css': styleSheet(own('docs.css')),
  'docs.js': pageScript(own('docs.js')),
  'minisearch.js': packagedScript('minisearch'),
  'icon.svg': icon,
} as const satisfies Readonly<Record<string, Asset>>;

/** `docs.css` as `assets/docs-1a2b3c4d5e.css`. */
function fileOf(name: string, text: string): string {
  const version = createHash('sha256').update(text).digest('hex').slice(0, 10);
  return `assets/${name.replace('.', `-${version}.`)}`;
}

export function asset(name: keyof typeof assets): string {
  return `${DOCS}/${fileOf(name, assets[name].text)}`;
}

/** The assets as files of the site. */
export function assetFiles(): (readonly [file: string, text: string])[] {
  return Object.entries(assets).map(([name, { text }]) => [fileOf(name, text), text] as const);
}
