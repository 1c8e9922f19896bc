/** A line of an import: its fields, and the parts that may be shown if it is rejected, without its secrets. */
import { findInvalidText } from '../../domain/invalid-text.ts';
import { badRequest, invalid } from '../../domain/problem.ts';
import { isObject } from '../../domain/validation.ts';

/** The maximum number of characters shown of a field. */
const MAX_CHARS = 200;

/** @throws Problem if it is not an object, or has text that cannot be stored */
export function lineFields(value: unknown): Record<string, unknown> {
  if (Array.isArray(value)) throw badRequest("is a list: write one object per line, as jq -c '.[]' does");
  if (!isObject(value)) throw badRequest('is not a JSON object');
  const refused = findInvalidText(value);
  if (refused !== null) throw invalid([refused]);
  return value;
}

/** One of its fields; undefined if absent. */
export function fieldOf(value: unknown, name: string): unknown {
  return isObject(value) ? value[name] : undefined;
}

/** The beginning of one of its fields; null if that is neither text nor a number. */
export function textFieldOf(value: unknown, name: string): string | null {
  const given = fieldOf(value, name);
  return typeof given === 'string' || typeof given === 'number' ? String(given).slice(0, MAX_CHARS) : null;
}

/** The beginning of its URL without credentials (in a malformed URL, all before the last `@`); null if none. */
export function urlOf(value: unknown): string | null {
  const given = fieldOf(value, 'url');
  if (typeof given !== 'string' || given === '') return null;
  const scheme = /^(?:[a-z][a-z\d+.-]*:[\\/]+)?/i.exec(given)?.[0] ?? '';
  const safeText = isWithoutUser(given) ? given : given.replace(/^.*@/s, `${scheme}•••@`);
  return safeText.slice(0, MAX_CHARS);
}

function isWithoutUser(url: string): boolean {
  if (!URL.canParse(url)) return false;
  const { protocol, username, password } = new URL(url);
  return /^https?:$/.test(protocol) && username === '' && password === '';
}
