/** CSV as RFC 4180 writes it, read piece by piece. */

/** A record, and the line of the file on which it begins. */
export interface CsvRecord {
  readonly line: number;
  readonly fields: readonly string[];
}

/**
 * Reads records from pieces of text; empty lines are left out. A quote inside a field that does not begin with one stands for itself.
 * @throws RangeError for a record of more than `maxLength` characters: a quote that is never closed
 */
export async function* csvRecords(
  pieces: AsyncIterable<string>,
  maxLength: number,
): AsyncGenerator<CsvRecord, void> {
  let fields: string[] = [];
  let field = '';
  let length = 0;
  let line = 1;
  let begins = 1;
  /** `closing`: after a quote that ends the field, or is the first half of one that stands for itself. */
  let state: 'plain' | 'quoted' | 'closing' = 'plain';
  const end = (): CsvRecord | null => {
    const record = { line: begins, fields: [...fields, field] };
    const empty = fields.length === 0 && field === '';
    fields = [];
    field = '';
    length = 0;
    state = 'plain';
    return empty ? null : record;
  };
  for await (const piece of pieces) {
    for (const char of piece) {
      length += char.length;
      if (length > maxLength)
        throw new RangeError(`The record in line ${begins} is too long: is a quote missing?`);
      if (state === 'quoted') {
        if (char === '"') state = 'closing';
        else field += char;
        if (char === '\n') line += 1;
      } else if (state === 'closing' && char === '"') {
        field += char;
        state = 'quoted';
      } else if (char === '"' && field === '' && state === 'plain') {
        state = 'quoted';
      } else if (char === ',') {
        fields.push(field);
        field = '';
        state = 'plain';
      } else if (char === '\n') {
        if (field.endsWith('\r')) field = field.slice(0, -1);
        const record = end();
        line += 1;
        begins = line;
        if (record !== null) yield record;
      } else {
        field += char;
      }
    }
  }
  const last = end();
  if (last !== null) yield last;
}
