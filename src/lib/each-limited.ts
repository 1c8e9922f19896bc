/** Work on many items side by side. */

/**
 * Calls `each` for every item, at most `limit` at once. Waits for all calls in progress before it throws the first
 * failure.
 */
export async function eachLimited<T>(
  items: readonly T[],
  limit: number,
  each: (item: T) => Promise<unknown>,
): Promise<void> {
  const queue = items.values();
  const results = await Promise.allSettled(
    Array.from({ length: Math.min(limit, items.length) }, async () => {
      for (const item of queue) await each(item);
    }),
  );
  for (const result of results) if (result.status === 'rejected') throw result.reason;
}
