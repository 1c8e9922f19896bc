/**
 * What runs in this process, and how it is stopped: in the opposite order of its start, and in bounded time.
 * @module
 */

/** How a part is stopped. */
export type Stop = () => Promise<void>;

/** The parts that have been started. */
export interface Stops {
  /**
   * Registers what has been started.
   * @param patient it has a bound of its own, and would be left running otherwise: a server that we started
   * @throws Error, having stopped it, when somebody asked to stop in the meantime
   */
  add(stop: Stop, patient?: boolean): Promise<void>;
  /**
   * Stops all. When the time is up, what has not stopped is abandoned: it ends with the process.
   * @param graceMs for all together, patient ones aside, in milliseconds
   * @returns whether everything has stopped by itself; repeated calls get the same answer
   */
  all(graceMs: number): Promise<boolean>;
  /** Whether `all` has been called. */
  readonly stopping: boolean;
}

/** Even when the time is up, each part is told to stop, and gets this long, in milliseconds. */
const LEAST_MS = 250;

/** @param say hears what did not stop */
export function createStops(say: (text: string) => void): Stops {
  const parts: { stop: Stop; patient: boolean }[] = [];
  let stopping: Promise<boolean> | undefined;

  async function stopAll(graceMs: number): Promise<boolean> {
    const end = performance.now() + graceMs;
    let clean = true;
    for (let part = parts.pop(); part !== undefined; part = parts.pop()) {
      const stopped = part.stop().catch((error: unknown) => {
        clean = false;
        say(`While stopping: ${error}`);
      });
      if (part.patient) await stopped;
      else clean = (await inTime(stopped, Math.max(LEAST_MS, end - performance.now()))) && clean;
    }
    if (!clean)
      say(`Not everything stopped within ${graceMs / 1000} s; what was still under way was abandoned.`);
    return clean;
  }

  return {
    async add(stop, patient = false) {
      if (stopping !== undefined) {
        await stop();
        throw new Error('Stopped while starting.');
      }
      parts.push({ stop, patient });
    },
    all(graceMs) {
      stopping ??= stopAll(graceMs);
      return stopping;
    },
    get stopping() {
      return stopping !== undefined;
    },
  };
}

/** Whether a promise is settled in time. */
function inTime(promise: Promise<void>, ms: number): Promise<boolean> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve(false), ms);
    void promise.then(() => {
      clearTimeout(timer);
      resolve(true);
    });
  });
}
