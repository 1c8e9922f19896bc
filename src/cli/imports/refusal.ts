/** A line of an import: its fields, and what can be said of one that stays out, which is nothing of its secrets. */
import { badRequest, invalid, Problem } from '../../domain/problem.ts';
import { findRefused } from '../../domain/refused-values.ts';
import { isObject } from '../../domain/validation.ts';

/** @throws Problem when it is no object, or has text that cannot be stored */
export function lineFields(value: unknown): Record<string, unknown> {
  if (Array.isArray(value)) throw badRequest("is a list: write one object a line, as jq -c '.[]' does");
  if (!isObject(value)) throw badRequest('is no JSON object');
  const refused = findRefused(value);
  if (refused !== null) throw invalid([refused]);
  return value;
}

/** Why; null where the line is not to blame. */
export function problemOf(error: unknown): string | null {
  return error instanceof Problem ? error.message : null;
}

/** One of its fields; undefined where it has none. */
export function fieldOf(value: unknown, name: string): unknown {
  return isObject(value) ? value[name] : undefined;
}

/** The beginning of one of its fields; null where that is neither text nor a number. */
export function wordOf(value: unknown, name: string): string | null {
  const given = fieldOf(value, name);
  return typeof given === 'string' || typeof given === 'number' ? String(given).slice(0, 200) : null;
}

/** A URL without the user and password that it may have. */
export function withoutUser(url: string): string {
  return url.replace(/\/\/[^/?#]*@/, '//•••@');
}
