/**
 * The search index: every page, guides by section. The browser has the same list and library; without scripts there is
 * a results page.
 */
import MiniSearch from 'minisearch';

export interface Findable {
  readonly id: string;
  readonly title: string;
  /** The part of the documentation that it belongs to. */
  readonly part: string;
  readonly text: string;
}

/** The search options, the same in both places. */
export const searchOptions = {
  fields: ['title', 'part', 'text'],
  storeFields: ['title', 'part', 'text'],
  searchOptions: { prefix: true, fuzzy: 0.15, combineWith: 'AND', boost: { title: 5, part: 2 } },
} as const;

const RESULTS = 12;

/** The longest text of an entry, in characters: the whole list is loaded with the first search. */
const MAX_TEXT_CHARS = 700;

export function wordsOf(text: string): string {
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
  return `${text.slice(0, end === -1 ? longest : end)}…`;
}

/** The maximum number of words in a search. Each is matched by prefix and fuzzily: hundreds take long. */
const MAX_QUERY_WORDS = 12;
/** Between words, as in the library. */
const BETWEEN = /[\n\r\p{Z}\p{P}]+/u;

/** The words of a query, each once. */
function distinctWords(query: string): string {
  return [...new Set(query.split(BETWEEN))].slice(0, MAX_QUERY_WORDS).join(' ');
}

export function searchOver(entries: readonly Findable[]): (query: string) => Findable[] {
  const index = new MiniSearch<Findable>({
    fields: [...searchOptions.fields],
    searchOptions: { ...searchOptions.searchOptions },
  });
  index.addAll(entries);
  const byId = new Map(entries.map((entry) => [entry.id, entry]));
  return (query) =>
    index
      .search(distinctWords(query))
      .slice(0, RESULTS)
      .flatMap(({ id }) => byId.get(String(id)) ?? []);
}
