/** The problems that the API finds in a form, each for its field. */
import { createContext } from 'hono/jsx';
import { type FieldProblem, problemsText } from '../domain/problem.ts';
import { capital, counted } from '../domain/text.ts';
import type { Rejection } from './api-client.ts';

/** By the name of the field: read by the fields of a form; set by its page. */
export const ProblemsOfForm = createContext<Readonly<Record<string, string>>>({});

/** The paths of a form's fields in the body; the last part of each is the name of the field. */
export type FieldPaths = readonly string[];

/** A problem of one part of a field: a header by its name, an address by its line. */
function aboutPart(part: string, message: string): string {
  if (part === '') return capital(`${message}.`);
  return /^\d+$/.test(part) ? `Line ${Number(part) + 1} ${message}.` : `“${part}” ${message}.`;
}

/**
 * @param refused undefined if nothing was refused
 * @returns the problems of known fields, and the rest, in a sentence
 */
export function problemsIn(refused: Rejection | undefined, paths: FieldPaths) {
  if (refused === undefined || typeof refused === 'string') return { at: {}, rest: refused };
  const at: Record<string, string> = {};
  const others: FieldProblem[] = [];
  for (const problem of refused) {
    const found = paths.find((known) => `${problem.path}.`.startsWith(`${known}.`));
    if (found === undefined) others.push(problem);
    else {
      const field = found.slice(found.lastIndexOf('.') + 1);
      const about = aboutPart(problem.path.slice(found.length + 1), problem.message);
      at[field] = at[field] === undefined ? about : `${at[field]} ${about}`;
    }
  }
  const count = Object.keys(at).length;
  const marked =
    count === 0 ? [] : [`Check the ${count === 1 ? 'marked field' : counted(count, 'marked field')}.`];
  return { at, rest: [...(others.length === 0 ? [] : [problemsText(others)]), ...marked].join('. ') };
}
