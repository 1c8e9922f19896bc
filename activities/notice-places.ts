/** Places for requests with notices to URLs: a silent URL keeps its own e-shop waiting, and nobody else. Pure. */

/**
 * The most such requests of a process at once; each holds a socket, and a place of Waybill's own steps. Fewer: as
 * many silent URLs delay all other notices. More: memory and sockets that nobody needs under light load.
 */
export const MAX_NOTICES_AT_ONCE = 40;
/**
 * How far apart notices without a place ask again, in milliseconds. Those of one e-shop: chats take one message per
 * second. Those of all e-shops: as often as a place becomes free while every place is held until the time-out
 * (15 s / 40). Less: useless runs.
 */
const ASK_AGAIN_MS = { ofEshop: 1_000, ofAll: 375 } as const;

export interface NoticePlaces {
  /** @returns null with the place of the e-shop, which it has to leave; else in how many milliseconds to ask again */
  enter(eshopId: number): number | null;
  leave(eshopId: number): void;
}

/**
 * An e-shop has one place, whatever its URL does.
 * @param now in milliseconds, on a clock that does not jump
 */
export function createNoticePlaces(now: () => number = () => performance.now()): NoticePlaces {
  const underWay = new Set<number>();
  /** When the last one without a place asks again. The next asks after it, so that each has its turn. */
  const queues = new Map<number | 'all', number>();

  function comeAgain(queue: number | 'all', apartMs: number): number {
    const at = Math.max(now(), queues.get(queue) ?? 0) + apartMs;
    queues.set(queue, at);
    return at - now();
  }

  return {
    enter(eshopId) {
      if (underWay.has(eshopId)) return comeAgain(eshopId, ASK_AGAIN_MS.ofEshop);
      if (underWay.size >= MAX_NOTICES_AT_ONCE) return comeAgain('all', ASK_AGAIN_MS.ofAll);
      underWay.add(eshopId);
      return null;
    },
    leave(eshopId) {
      underWay.delete(eshopId);
      if ((queues.get(eshopId) ?? 0) <= now()) queues.delete(eshopId);
    },
  };
}
