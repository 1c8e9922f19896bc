/** A small file of the system's configuration that is read again when it has changed. */
import { readFileSync, statSync } from 'node:fs';

/** How long a file is assumed to be unchanged without a check, in milliseconds. */
const CHECK_INTERVAL_MS = 1_000;

/**
 * A file's parsed content, at most a second old. Read without libuv's threads, which other work may keep busy.
 * @param parse called with '' if there is no such file
 */
export function watchedFile<T>(path: string, parse: (text: string) => T): () => T {
  let lookedAt = Number.NEGATIVE_INFINITY;
  let seen: string | undefined;
  let value: T;
  return () => {
    const now = performance.now();
    if (now - lookedAt < CHECK_INTERVAL_MS) return value;
    lookedAt = now;
    const stat = statSync(path, { throwIfNoEntry: false });
    const state = stat === undefined ? 'missing' : `${stat.mtimeMs} ${stat.size} ${stat.ino}`;
    if (state !== seen) {
      seen = state;
      value = parse(stat === undefined ? '' : textOf(path));
    }
    return value;
  };
}

function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
