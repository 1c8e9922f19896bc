/** The lines of a file to import: NDJSON or CSV, recognized by its beginning. */
import { createReadStream } from 'node:fs';
import type * as v from 'valibot';
import { reasonOf, UserError } from '../../lib/user-error.ts';
import { csvRecords } from './csv.ts';

/** A line as read, why it could not be read, or the part of it that has no counterpart here. */
export type ImportLine = { readonly line: number } & (
  | { readonly value: unknown }
  | { readonly problem: string; readonly outcome?: 'unmapped' }
);

/** The fields of a line by name: the possible titles of a CSV, in which only text and enumerations are not JSON. */
type Titles = v.ObjectEntries;

const PLAIN: readonly string[] = ['string', 'picklist'];

function isPlain(schema: object): boolean {
  if ('wrapped' in schema && typeof schema.wrapped === 'object' && schema.wrapped !== null)
    return isPlain(schema.wrapped);
  return 'type' in schema && PLAIN.includes(String(schema.type));
}

/** The largest file, which is held in memory: ten thousand webhooks take a tenth of that. */
const MAX_FILE_MIB = 64;

/**
 * Reads a file.
 * @param file `-` for standard input
 * @param titles the possible titles of a CSV
 * @throws UserError if it is empty or too large, or cannot be read
 */
export async function readImport(file: string, titles: Titles): Promise<ImportLine[]> {
  const text = await textOf(file);
  if (text.trim() === '') throw new UserError('There is nothing to import: all lines are empty.');
  const lines = text.split('\n');
  return [...(/^\s*[[{]/.test(text) ? ndjson(lines) : csv(lines, titles))];
}

async function textOf(file: string): Promise<string> {
  const stream = file === '-' ? process.stdin : createReadStream(file);
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  try {
    for await (const chunk of stream) {
      bytes += chunk.length;
      if (bytes > MAX_FILE_MIB * 1024 * 1024)
        throw new UserError(`${file} is larger than ${MAX_FILE_MIB} MiB: import it in parts.`);
      chunks.push(chunk);
    }
  } catch (error) {
    if (error instanceof UserError) throw error;
    throw new UserError(`${file} cannot be read: ${reasonOf(error)}.`);
  }
  return new TextDecoder().decode(Buffer.concat(chunks));
}

function* ndjson(lines: readonly string[]): Generator<ImportLine, void> {
  for (const [index, text] of lines.entries()) {
    const line = index + 1;
    if (text.includes(UNDECODED)) yield { line, problem: NOT_UTF8 };
    else if (text.trim() !== '') {
      const read = parsed(line, text);
      yield 'problem' in read ? { line, problem: `${read.problem}: ${ONE_A_LINE}` } : read;
    }
  }
}

const ONE_A_LINE = 'write one whole object per line, as jq -c . does';
/** The decoder's replacement for bytes that are not UTF-8. */
const UNDECODED = '\ufffd';
const NOT_UTF8 = 'has bytes that are not UTF-8';

function parsed(line: number, text: string): ImportLine {
  try {
    return { line, value: JSON.parse(text) };
  } catch {
    // The parser's message repeats the text, which may contain a secret.
    return { line, problem: 'is not JSON' };
  }
}

function* csv(lines: readonly string[], fields: Titles): Generator<ImportLine, void> {
  const knownFields = Object.keys(fields);
  const json = knownFields.filter((name) => !isPlain(fields[name] ?? {}));
  let titles: readonly string[] | null = null;
  for (const { line, fields: found } of csvRecords(lines)) {
    if (found === null) {
      yield { line, problem: 'has a quote that is not closed, or text after one that is' };
      // Without titles the fields of the other lines are unknown.
      if (titles === null) return;
    } else if (titles === null) {
      titles = found.map((field) => field.trim());
      // Probably UTF-16, which some shells write.
      if (titles.some((title) => title.includes(UNDECODED))) return yield { line, problem: NOT_UTF8 };
      const twice = titles.find((title, index) => title !== '' && titles?.indexOf(title) !== index);
      if (twice !== undefined) return yield { line, problem: `has the column "${twice}" twice` };
      const unknown = titles.filter((title) => title !== '' && !knownFields.includes(title));
      if (unknown.length > 0) return yield { line, problem: unknownTitles(unknown, titles, knownFields) };
    } else yield recordOf(line, titles, found, json);
  }
}

function unknownTitles(
  unknown: readonly string[],
  titles: readonly string[],
  knownFields: readonly string[],
) {
  const may = `columns are ${knownFields.join(', ')}`;
  // If no title is known, the line is not repeated: the file has no titles, and its first line may hold a secret.
  if (unknown.length === titles.length) return `is neither JSON nor a header line: ${may}`;
  return `has unknown columns: ${unknown.map((title) => `"${title}"`).join(', ')}; ${may}`;
}

function recordOf(
  line: number,
  titles: readonly string[],
  fields: readonly string[],
  jsonFields: readonly string[],
): ImportLine {
  if ([...titles, ...fields].some((field) => field.includes(UNDECODED))) return { line, problem: NOT_UTF8 };
  if (fields.length > titles.length) return { line, problem: 'has more fields than the header line' };
  if (fields.length < titles.length) return { line, problem: 'has fewer fields than the header line' };
  const given: [string, unknown][] = [];
  for (const [index, title] of titles.entries()) {
    const text = fields[index] ?? '';
    if (text === '') continue;
    if (!jsonFields.includes(title)) given.push([title, text]);
    else {
      // Spreadsheets write TRUE.
      const field = parsed(line, /^(true|false)$/i.test(text) ? text.toLowerCase() : text);
      if ('problem' in field) return { line, problem: `${title}: ${field.problem}` };
      given.push([title, field.value]);
    }
  }
  return { line, value: Object.fromEntries(given) };
}
