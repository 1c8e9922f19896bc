/** The name by which people know a webhook. */
import { oneLine } from './text.ts';

const MAX_NAME_CHARS = 60;

export interface NamedBy {
  readonly url: string;
  readonly description: string | null;
}

/** The first line of its description, or else its host and path, without the query, which may hold a key. */
export function nameOf({ url, description }: NamedBy): string {
  const { host, pathname } = new URL(url);
  const [line = ''] = (description ?? '').trim().split('\n');
  const name = [...(line === '' ? `${host}${pathname.replace(/\/$/, '')}` : oneLine(line))];
  return name.length > MAX_NAME_CHARS ? `${name.slice(0, MAX_NAME_CHARS).join('')}…` : name.join('');
}
