/** Where things are described. */
import { DOCS } from './assets.ts';
import { anchor } from './markdown.ts';

/** The last part of an operation's address, and its anchor on the first page. @param method in any case */
export function operationAnchor(method: string, path: string): string {
  return anchor(`${method} ${path}`);
}

/** The page of an operation. */
export function operationPath(method: string, path: string): string {
  return `${DOCS}/reference/${operationAnchor(method, path)}`;
}

/** The page of a named schema. */
export function schemaPath(name: string): string {
  return `${DOCS}/schemas/${encodeURIComponent(name)}`;
}

/** The page of an event type. */
export function eventPath(type: string): string {
  return `${DOCS}/events/${encodeURIComponent(type)}`;
}

/** The page of a section of the rules. */
export function rulesPath(title: string): string {
  return `${DOCS}/rules/${anchor(title)}`;
}
