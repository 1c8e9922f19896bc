/** The lines of a file to import, one at a time: NDJSON or CSV, recognized by its beginning. */
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import type * as v from 'valibot';
import { UserError } from '../../lib/user-error.ts';
import { csvRecords, type TextLine } from './csv.ts';

/** A line as read, or why it could not be read, or the part of it without a counterpart here. */
export type ImportLine = { readonly line: number } & (
  | { readonly value: unknown }
  | { readonly problem: string; readonly outcome?: 'unmapped' }
);

export interface ImportSource {
  readonly lines: AsyncIterable<ImportLine>;
  /** How much has been read, from 0 to 1; null if unknown. */
  progress(): number | null;
  /** Stops reading; a pending read fails with this error. */
  stop(reason: Error): void;
}

/** The fields of a line by name: the possible titles of a CSV, where text and enumerations are plain, others JSON. */
type Titles = v.ObjectEntries;

const PLAIN: readonly string[] = ['string', 'picklist'];

function isPlain(schema: object): boolean {
  if ('wrapped' in schema && typeof schema.wrapped === 'object' && schema.wrapped !== null)
    return isPlain(schema.wrapped);
  return 'type' in schema && PLAIN.includes(String(schema.type));
}

/** The most characters in a line: a webhook has a hundredth of that. */
const MAX_LINE = 1024 * 1024;

/**
 * Opens a file.
 * @param file `-` for standard input
 * @param titles the possible ones of a CSV
 * @throws UserError if it cannot be read; `lines` throws one if the file is empty
 */
export async function openImport(file: string, titles: Titles): Promise<ImportSource> {
  const size = file === '-' ? null : await sizeOf(file);
  const stream = file === '-' ? process.stdin : createReadStream(file);
  let read = 0;
  async function* pieces(): AsyncGenerator<string, void> {
    const decoder = new TextDecoder();
    for await (const chunk of stream) {
      const bytes: Uint8Array = typeof chunk === 'string' ? Buffer.from(chunk) : chunk;
      read += bytes.byteLength;
      yield decoder.decode(bytes, { stream: true });
    }
    yield decoder.decode();
  }
  return {
    lines: linesOf(pieces(), titles),
    progress: () => (size === null ? null : size === 0 ? 1 : read / size),
    stop: (reason) => void stream.destroy(reason),
  };
}

async function sizeOf(file: string): Promise<number> {
  try {
    const found = await stat(file);
    if (found.isDirectory()) throw new UserError(`${file} is a directory.`);
    return found.size;
  } catch (error) {
    if (error instanceof UserError) throw error;
    throw new UserError(`${file} cannot be read: ${error instanceof Error ? error.message : String(error)}.`);
  }
}

async function* linesOf(
  pieces: AsyncGenerator<string, void>,
  titles: Titles,
): AsyncGenerator<ImportLine, void> {
  let start = '';
  for (let next = await pieces.next(); next.done !== true; next = await pieces.next()) {
    start += next.value;
    if (start.trim() !== '') break;
  }
  if (start.trim() === '') throw new UserError('There is nothing to import: no line has anything in it.');
  async function* all(): AsyncGenerator<string, void> {
    yield start;
    yield* pieces;
  }
  const lines = textLines(all());
  yield* /^\s*[[{]/.test(start) ? ndjson(lines) : csv(lines, titles);
}

async function* ndjson(lines: AsyncIterable<TextLine>): AsyncGenerator<ImportLine, void> {
  for await (const { line, text } of lines) {
    if (text === null) yield { line, problem: `is longer than ${MAX_LINE} characters` };
    else if (text.includes(UNDECODED)) yield { line, problem: NOT_UTF8 };
    else if (text.trim() !== '') {
      const read = parsed(line, text);
      yield 'problem' in read ? { line, problem: `${read.problem}: ${ONE_A_LINE}` } : read;
    }
  }
}

const ONE_A_LINE = 'write one whole object a line, as jq -c . does';
/** The decoder's replacement for bytes that are not UTF-8. */
const UNDECODED = '\ufffd';
const NOT_UTF8 = 'has bytes that are not UTF-8';

async function* textLines(pieces: AsyncIterable<string>): AsyncGenerator<TextLine, void> {
  let line = 0;
  let rest = '';
  let tooLong = false;
  for await (const piece of pieces) {
    const [first = '', ...others] = piece.split('\n');
    rest += first;
    for (const other of others) {
      line += 1;
      yield { line, text: tooLong || rest.length > MAX_LINE ? null : rest };
      tooLong = false;
      rest = other;
    }
    if (rest.length > MAX_LINE) {
      tooLong = true;
      rest = '';
    }
  }
  line += 1;
  if (tooLong || rest.length > MAX_LINE) yield { line, text: null };
  else if (rest !== '') yield { line, text: rest };
}

function parsed(line: number, text: string): ImportLine {
  try {
    return { line, value: JSON.parse(text) };
  } catch {
    // The parser's message repeats the text, which may contain a secret.
    return { line, problem: 'is not JSON' };
  }
}

async function* csv(lines: AsyncIterable<TextLine>, fields: Titles): AsyncGenerator<ImportLine, void> {
  const known = Object.keys(fields);
  const json = known.filter((name) => !isPlain(fields[name] ?? {}));
  let titles: readonly string[] | null = null;
  for await (const record of csvRecords(lines, MAX_LINE)) {
    const { line } = record;
    if ('problem' in record) {
      yield record;
      // Without titles the fields of the other lines are unknown.
      if (titles === null) return;
    } else if (titles === null) {
      titles = record.fields.map((field) => field.trim());
      const twice = titles.find((title, index) => title !== '' && titles?.indexOf(title) !== index);
      if (twice !== undefined) return yield { line, problem: `has the title "${twice}" twice` };
      const unknown = titles.filter((title) => title !== '' && !known.includes(title));
      if (unknown.length > 0) return yield { line, problem: unknownTitles(unknown, titles, known) };
    } else yield recordOf(line, titles, record.fields, json);
  }
}

function unknownTitles(
  unknown: readonly string[],
  titles: readonly string[],
  known: readonly string[],
): string {
  const may = `titles are ${known.join(', ')}`;
  // Not repeated if none is known: it is the first line of a file without titles, and may contain a secret.
  if (unknown.length === titles.length) return `is neither JSON nor a line of titles: ${may}`;
  return `has titles that are unknown: ${unknown.map((title) => `"${title}"`).join(', ')}; ${may}`;
}

function recordOf(
  line: number,
  titles: readonly string[],
  fields: readonly string[],
  jsonFields: readonly string[],
): ImportLine {
  if ([...titles, ...fields].some((field) => field.includes(UNDECODED))) return { line, problem: NOT_UTF8 };
  if (fields.length > titles.length)
    return { line, problem: 'has more fields than the first line has titles' };
  if (fields.length < titles.length)
    return { line, problem: 'has fewer fields than the first line has titles' };
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
