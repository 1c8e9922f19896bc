/** CSV as in RFC 4180. */

/**
 * The longest record, in lines. Too low: a field with that many lines is refused. Without a limit, a file without the
 * first quote of each line takes days: 140 kB took 14 s, and the time grows with the square of the size.
 */
const MAX_RECORD_LINES = 500;

/**
 * The records of a text, each with the line on which it begins, from 1; empty lines are left out. A quote inside a
 * field that does not begin with one is literal. If a quoted field is not closed within {@link MAX_RECORD_LINES}, or
 * text follows its end, only that line is lost: its fields are null.
 */
export function* csvRecords(lines: readonly string[]) {
  let next = 0;
  for (const [index, text] of lines.entries()) {
    const line = index + 1;
    if (index < next || text === '' || text === '\r') continue;
    const record = new OpenRecord();
    let state = record.add(text);
    next = line;
    const end = Math.min(lines.length, index + MAX_RECORD_LINES);
    for (; state === 'open' && next < end; next += 1) state = record.add(lines[next] ?? '');
    yield { line, fields: state === 'whole' ? record.fields : null };
    if (state !== 'whole') next = line;
  }
}

class OpenRecord {
  readonly fields: string[] = [];
  /** The text so far of a quoted field; null outside a quoted field. */
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
