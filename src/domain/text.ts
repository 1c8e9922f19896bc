/** Helpers for texts: one line of foreign text, plurals, anchors, times. */

/** Control characters, line and paragraph separators, and marks that change the direction of text. */
const NOT_IN_A_LINE = /[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]+/gu;

/** Foreign text as part of one line: line breaks, terminal escapes and other control characters become spaces. */
export function oneLine(text: string): string {
  return text.replaceAll(NOT_IN_A_LINE, ' ');
}

/** Characters that act on a terminal or change the direction of text, except tabs and line breaks. */
const UNSEEN = /[^\P{Cc}\t\n\r]|[\u202a-\u202e\u2066-\u2069]/gu;

/** Foreign text on several lines: the characters that {@link oneLine} removes are replaced by `shown`. */
export function withoutUnseen(text: string, shown: (character: string) => string = () => '\ufffd'): string {
  return text.replaceAll(UNSEEN, shown);
}

/** "Order" for "order". */
export function capital(text: string): string {
  return `${text.slice(0, 1).toUpperCase()}${text.slice(1)}`;
}

/** "an order" for "order". */
export function article(noun: string): string {
  return `${/^[aeiou]/.test(noun) ? 'an' : 'a'} ${noun}`;
}

/** "1 attempt", "2 attempts", "1 delivery", "2,000 deliveries". */
export function counted(count: number, noun: string, plural = `${noun}s`): string {
  return `${count.toLocaleString('en-US')} ${count === 1 ? noun : plural}`;
}

/** One header per line, as on the wire. */
export function headerLines(headers: Readonly<Record<string, string>>): string {
  return Object.entries(headers)
    .map(([name, value]) => `${name}: ${value}`)
    .join('\n');
}

/** An anchor for a heading: letters and digits of any script, and hyphens; nothing that needs escaping in HTML. */
export function anchor(text: string): string {
  return text
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, '-')
    .replace(/^-|-$/g, '');
}

/** `2026-11-20 19:33 UTC` */
export const minute = (time: Date): string => `${time.toISOString().slice(0, 16).replace('T', ' ')} UTC`;
