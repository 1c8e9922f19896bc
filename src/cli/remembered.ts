/** Caches a value for a moment, for all callers. @param freshMs how long, in milliseconds */
export function remembered<T>(freshMs: number, read: () => Promise<T>): () => Promise<T> {
  let cached: { readonly at: number; readonly value: Promise<T> } | undefined;
  return () => {
    if (cached === undefined || performance.now() - cached.at > freshMs) {
      cached = { at: performance.now(), value: read() };
    }
    return cached.value;
  };
}
