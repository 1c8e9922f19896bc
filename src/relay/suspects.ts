/** Decides whether an item is to blame because its own call keeps failing, or Temporal because it is unavailable. */

/**
 * How often the call of one item has to fail, while other calls are answered in between. Too low: an item is left out
 * because Temporal was busy for a moment. Too high: the items behind a damaged workflow wait longer.
 */
const MAX_FAILURES = 3;
/** The most items kept; beyond it, all are forgotten. Too low: none is blamed in an outage. Too high: more memory. */
const MAX_REMEMBERED = 1_000;

export type Suspects = ReturnType<typeof createSuspects>;

export function createSuspects() {
  let answers = 0;
  const suspects = new Map<string, { readonly failures: number; readonly answers: number }>();
  return {
    /** Temporal has answered a call. */
    answered(): void {
      answers += 1;
    },
    /**
     * The call of this item failed. @returns whether the item is to blame: it has failed three times, and Temporal
     * answered other calls between each two
     */
    failed(item: string): boolean {
      const before = suspects.get(item);
      if (before?.answers === answers) return false;
      const failures = (before?.failures ?? 0) + 1;
      if (suspects.size >= MAX_REMEMBERED) suspects.clear();
      suspects.set(item, { failures, answers });
      if (failures < MAX_FAILURES) return false;
      suspects.delete(item);
      return true;
    },
    succeeded(item: string): void {
      suspects.delete(item);
    },
  };
}
