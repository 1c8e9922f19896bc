/** The guides: `docs/guides/*.md`, also part of the built program. */
import { readdirSync, readFileSync } from 'node:fs';
import { type GuideText, readGuide } from './guide-text.ts';

interface Guide extends GuideText {
  readonly name: string;
}

/** Their names in reading order. Guides not listed here come last. */
export const guideOrder: readonly string[] = [
  'quickstart',
  'on-your-laptop',
  'receiving',
  'verifying',
  'retries',
  'recovering',
  'idempotency',
  'stock',
  'an-eshops-day',
  'versions',
  'pre-orders',
  'from-your-wms',
  'importing',
  'going-live',
];

const FOLDER = new URL('../../../docs/guides/', import.meta.url);

export function readGuides(folder: URL = FOLDER): Guide[] {
  const place = (name: string) => (guideOrder.includes(name) ? guideOrder.indexOf(name) : guideOrder.length);
  return readdirSync(folder)
    .filter((file) => file.endsWith('.md'))
    .map((file) => file.slice(0, -'.md'.length))
    .sort((a, b) => place(a) - place(b) || a.localeCompare(b))
    .map((name) => ({ name, ...readGuide(readFileSync(new URL(`${name}.md`, folder), 'utf8')) }));
}
