/**
 * The search index: every page, documents by section. It is made with the site, and the browser searches in it.
 */
import MiniSearch from 'minisearch';

export interface Findable {
  readonly id: string;
  readonly title: string;
  /** The part of the documentation that it belongs to. */
  readonly part: string;
  readonly text: string;
}

/** The search options: those of the index, and those of each search. */
const searchOptions = {
  fields: ['title', 'part', 'text'],
  storeFields: ['title', 'part', 'excerpt'],
  searchOptions: { prefix: true, fuzzy: 0.15, combineWith: 'AND', boost: { title: 5, part: 2 } },
} as const;

/** The longest text of an entry, in characters: the whole index is loaded with the first search. */
const MAX_TEXT_CHARS = 700;
/** What is shown of it in the results, in characters. */
const EXCERPT_CHARS = 160;

export function plainTextOf(text: string): string {
  const words = text
    .replaceAll(/^\s*(?:#+|>|-|\d+\.)\s/gm, '')
    .replaceAll(/[`*[]|\]\([^)]*\)/g, '')
    .replaceAll('|', ' ')
    .replaceAll(/\s+/g, ' ')
    .trim();
  return beginningOf(words, MAX_TEXT_CHARS);
}

/** The beginning of a text, ending at a whole word. @param longest in characters, without the ellipsis */
export function beginningOf(text: string, longest: number): string {
  if (text.length <= longest) return text;
  const end = text.lastIndexOf(' ', longest);
  return `${text.slice(0, end === -1 ? longest : end).replace(/[.,:;]$/, '')}…`;
}

/** The index as the browser loads it, with the options it was made by. */
export function searchIndex(entries: readonly Findable[]): string {
  const index = new MiniSearch({
    fields: [...searchOptions.fields],
    storeFields: [...searchOptions.storeFields],
  });
  index.addAll(entries.map((entry) => ({ ...entry, excerpt: beginningOf(entry.text, EXCERPT_CHARS) })));
  return JSON.stringify({ options: searchOptions, index });
}
