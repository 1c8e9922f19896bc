/** Values that no body may contain, whatever its schema: checked before the schema. */
import type { FieldProblem } from './problem.ts';

/** No valid body is nested deeper; a deeper one would only exhaust the stack. */
const MAX_DEPTH = 32;

/** Postgres cannot store NUL, and an unpaired surrogate would be replaced silently. */
const UNSTORABLE = /[\0\p{Surrogate}]/u;
const unstorable = 'must not contain NUL or an unpaired surrogate';

/**
 * True for names that objects inherit from their prototype, such as `__proto__`: valibot's `record` silently drops
 * some, and a look-up by name finds them in every object.
 */
export function isInherited(name: string): boolean {
  return name in Object.prototype || name === 'prototype';
}

/** The first invalid text or name within a value, or null. */
export function findInvalidText(value: unknown, path: (string | number)[] = []): FieldProblem | null {
  if (typeof value === 'string') {
    return UNSTORABLE.test(value) ? { path: path.join('.'), message: unstorable } : null;
  }
  if (typeof value !== 'object' || value === null) return null;
  if (path.length >= MAX_DEPTH) {
    return { path: '', message: `must not be nested deeper than ${MAX_DEPTH} levels` };
  }
  // One shared path for the whole walk: copying it would cost more than the walk.
  if (Array.isArray(value)) {
    for (const [index, item] of value.entries()) {
      path.push(index);
      const invalid = findInvalidText(item, path);
      if (invalid !== null) return invalid;
      path.pop();
    }
    return null;
  }
  for (const [name, inner] of Object.entries(value)) {
    path.push(name);
    if (isInherited(name)) return { path: path.join('.'), message: 'unknown field' };
    if (UNSTORABLE.test(name)) {
      return { path: [...path.slice(0, -1), '(a field name)'].join('.'), message: unstorable };
    }
    const invalid = findInvalidText(inner, path);
    if (invalid !== null) return invalid;
    path.pop();
  }
  return null;
}
