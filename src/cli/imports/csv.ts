/** CSV as in RFC 4180, read line by line. */

/** A line of text, numbered from 1; null if it is too long. */
export interface TextLine {
  readonly line: number;
  readonly text: string | null;
}

/** A record or its problem, and the line on which it begins. */
type CsvRecord = { readonly line: number } & (
  | { readonly fields: readonly string[] }
  | { readonly problem: string }
);

/**
 * Reads records; empty lines are left out. A quote inside a field that does not begin with one is literal. One that
 * is never closed loses only its line.
 * @param maxLength the most characters in a record
 */
export async function* csvRecords(
  lines: AsyncIterable<TextLine>,
  maxLength: number,
): AsyncGenerator<CsvRecord, void> {
  const source = lines[Symbol.asyncIterator]();
  /** Lines to read again, the last one first. */
  const again: TextLine[] = [];
  const nextLine = async () => again.pop() ?? (await source.next()).value;
  for (let first = await nextLine(); first; first = await nextLine()) {
    const { line, text } = first;
    if (text === null) {
      yield { line, problem: `is longer than ${maxLength} characters` };
      continue;
    }
    if (text === '' || text === '\r') continue;
    const record = new OpenRecord();
    const more: TextLine[] = [];
    let length = text.length;
    let state = record.add(text);
    while (state === 'open') {
      const next = await nextLine();
      if (next) more.push(next);
      length += next?.text?.length ?? Number.POSITIVE_INFINITY;
      state = next && next.text !== null && length <= maxLength ? record.add(next.text) : 'wrong';
    }
    if (state === 'whole') yield { line, fields: record.fields };
    else {
      yield { line, problem: 'has a quote that is not closed, or text after one that is' };
      for (const each of more.reverse()) again.push(each);
    }
  }
}

/** A record whose lines are being read. */
class OpenRecord {
  readonly fields: string[] = [];
  /** The text so far of a quoted field; null outside of one. */
  #quoted: string | null = null;

  /** `open`: the next line belongs to the record, too. */
  add(line: string): 'open' | 'whole' | 'wrong' {
    if (this.#quoted !== null) this.#quoted += '\n';
    for (let at = 0; ; ) {
      if (this.#quoted === null && line[at] === '"') {
        this.#quoted = '';
        at += 1;
      }
      if (this.#quoted === null) {
        const comma = line.indexOf(',', at);
        this.fields.push(comma < 0 ? line.slice(at).replace(/\r$/, '') : line.slice(at, comma));
        if (comma < 0) return 'whole';
        at = comma + 1;
        continue;
      }
      const quote = line.indexOf('"', at);
      this.#quoted += quote < 0 ? line.slice(at) : line.slice(at, quote);
      if (quote < 0) return 'open';
      at = quote + 1;
      if (line[at] === '"') {
        this.#quoted += '"';
        at += 1;
        continue;
      }
      this.fields.push(this.#quoted);
      this.#quoted = null;
      const rest = line.slice(at);
      if (rest === '' || rest === '\r') return 'whole';
      if (line[at] !== ',') return 'wrong';
      at += 1;
    }
  }
}
