/**
 * Finds objects with more fields than any record has in the JSON text: refusing them after parsing costs a hundred
 * times as much.
 */

/** No valid object has this many fields. */
export const MAX_FIELDS = 250;

const QUOTE = 0x22;
const COLON = 0x3a;
const BACKSLASH = 0x5c;
/** `{` and `[`, `}` and `]`: a pair differs in one bit. */
const OPEN = 0x5b;
const CLOSE = 0x5d;
const BRACES = 0x20;

/** Whether an object in a JSON text has more than {@link MAX_FIELDS} fields, counting repeated ones. */
export function hasWideObject(json: Uint8Array): boolean {
  /** The fields counted in the open objects, outermost first. */
  const fields: number[] = [];
  let here = 0;
  for (let at = 0; at < json.length; at += 1) {
    const byte = json[at] ?? 0;
    if (byte === QUOTE) at = endOfString(json, at + 1);
    else if (byte === COLON) {
      here += 1;
      if (here > MAX_FIELDS) return true;
    } else if ((byte & ~BRACES) === OPEN) {
      fields.push(here);
      here = 0;
    } else if ((byte & ~BRACES) === CLOSE) here = fields.pop() ?? 0;
  }
  return false;
}

function endOfString(json: Uint8Array, from: number): number {
  let at = from;
  while (at < json.length && json[at] !== QUOTE) at += json[at] === BACKSLASH ? 2 : 1;
  return at;
}
