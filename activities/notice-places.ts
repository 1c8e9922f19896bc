/** Limits the requests that send notices to URLs: a silent URL delays only its own e-shop. Pure. */

/**
 * The most such requests of a process at once; each holds a socket, and a place of Waybill's own steps. Too low: as
 * many silent URLs delay all other notices. Too high: more memory and sockets that nobody needs under light load.
 */
export const MAX_NOTICES_AT_ONCE = 40;
/**
 * The interval at which notices without a place ask again, in milliseconds. `ofEshop`: chats take one message per
 * second. `ofAll`: a place becomes free this often even if every request runs into its time-out (15 s / 40). Too low:
 * useless runs.
 */
const ASK_AGAIN_MS = { ofEshop: 1_000, ofAll: 375 } as const;

export type NoticePlaces = ReturnType<typeof createNoticePlaces>;

/**
 * An e-shop has at most one place.
 * @param now in milliseconds, on a clock that does not jump
 */
export function createNoticePlaces(now: () => number = () => performance.now()) {
  const underWay = new Set<number>();
  /** When the last notice without a place asks again. The next one asks after that, so that each gets its turn. */
  const queues = new Map<number | 'all', number>();

  function comeAgain(queue: number | 'all', apartMs: number): number {
    const at = Math.max(now(), queues.get(queue) ?? 0) + apartMs;
    queues.set(queue, at);
    return at - now();
  }

  return {
    /** @returns null if the e-shop got a place, which it has to leave; else in how many milliseconds to ask again */
    enter(eshopId: number): number | null {
      if (underWay.has(eshopId)) return comeAgain(eshopId, ASK_AGAIN_MS.ofEshop);
      if (underWay.size >= MAX_NOTICES_AT_ONCE) return comeAgain('all', ASK_AGAIN_MS.ofAll);
      underWay.add(eshopId);
      return null;
    },
    leave(eshopId: number): void {
      underWay.delete(eshopId);
      if ((queues.get(eshopId) ?? 0) <= now()) queues.delete(eshopId);
    },
  };
}
