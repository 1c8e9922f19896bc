import { anchor } from '../src/domain/text.ts';
import { DOCS } from './assets.ts';

/** The index of the reference. */
export const referencePath = `${DOCS}/reference`;

/** The page of an operation, to which mails link as well. @param method in any case */
export function operationPath(method: string, path: string): string {
  return `${referencePath}/${anchor(`${method} ${path}`)}`;
}

export function schemaPath(name: string): string {
  return `${DOCS}/schemas/${encodeURIComponent(name)}`;
}

export function eventPath(type: string): string {
  return `${DOCS}/events/${encodeURIComponent(type)}`;
}

export function rulesPath(title: string): string {
  return `${DOCS}/rules/${anchor(title)}`;
}
