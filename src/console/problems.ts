/** A form's problems, each at its field: the API says "path: problem; path: problem" (docs/interface.md, C3). */
import { createContext } from 'hono/jsx';
import { capital, counted } from '../domain/text.ts';

/** By the name of the field. */
export type Problems = Readonly<Record<string, string>>;

/** Read by the fields of a form; set by its page. */
export const ProblemsOfForm = createContext<Problems>({});

/** The fields of a form, by their paths in the body; of a field within another, as its own name. */
export type FieldPaths = Readonly<Record<string, string>>;

/** A problem of one part of a field: a header by its name, an address by its line. */
function aboutPart(part: string, message: string): string {
  if (part === '') return capital(`${message}.`);
  return /^\d+$/.test(part) ? `Line ${Number(part) + 1} ${message}.` : `“${part}” ${message}.`;
}

/**
 * @param refused the refusal; undefined if there is none
 * @returns the problems of known fields, and the rest, in a sentence
 */
export function problemsIn(
  refused: string | undefined,
  paths: FieldPaths,
): { readonly at: Problems; readonly rest: string | undefined } {
  const known = Object.keys(paths)
    .map((path) => path.replaceAll('.', '\\.'))
    .join('|');
  if (refused === undefined || known === '') return { at: {}, rest: refused };
  const at: Record<string, string> = {};
  const others: string[] = [];
  for (const problem of refused.split(new RegExp(`; (?=(?:${known})[.:])`))) {
    const [, path = '', part = '', message = ''] =
      new RegExp(`^(${known})(?:\\.(.+?))?: (.+)$`, 's').exec(problem) ?? [];
    const field = paths[path];
    if (field === undefined) others.push(problem);
    else at[field] = `${at[field] === undefined ? '' : `${at[field]} `}${aboutPart(part, message)}`;
  }
  const count = Object.keys(at).length;
  const marked =
    count === 0 ? [] : [`Check the ${count === 1 ? 'marked field' : counted(count, 'marked field')}.`];
  return { at, rest: [...others, ...marked].join(' ') };
}
