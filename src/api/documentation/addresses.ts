import { DOCS } from './assets.ts';
import { anchor } from './markdown.ts';

/** The last part of the address of an operation, also its anchor on the first page. @param method in any case */
export function operationAnchor(method: string, path: string): string {
  return anchor(`${method} ${path}`);
}

export function operationPath(method: string, path: string): string {
  return `${DOCS}/reference/${operationAnchor(method, path)}`;
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
