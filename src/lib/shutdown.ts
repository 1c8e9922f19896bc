/** How a program stops the parts it has started: in reverse order and in bounded time; and the handling of Ctrl-C. */
import { setMaxListeners } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { UserError } from './user-error.ts';
import { aborted } from './wait-or-stop.ts';

type Stop = () => Promise<unknown>;

export type Shutdown = ReturnType<typeof createShutdown>;

/** Even when the time is up, each part is asked to stop and gets this long, in milliseconds. */
const MIN_STOP_TIME_MS = 250;

/** @param onProblem called with the parts that did not stop; default: ignored */
export function createShutdown(onProblem: (text: string) => void = () => {}) {
  const parts: { stop: Stop; patient: boolean }[] = [];
  const requested = new AbortController();
  const timeIsUp = new AbortController();
  let hurried = false;
  let stopping: Promise<boolean> | undefined;

  async function stopAll(graceMs?: number): Promise<boolean> {
    const timer = graceMs === undefined ? undefined : setTimeout(() => timeIsUp.abort(), graceMs);
    let clean = true;
    for (let part = parts.pop(); part !== undefined; part = parts.pop()) {
      const stopped = part.stop().catch((error: unknown) => {
        clean = false;
        onProblem(`While stopping: ${error}`);
      });
      if (part.patient) await stopped;
      else clean = (await inTime(stopped, timeIsUp.signal)) && clean;
    }
    clearTimeout(timer);
    if (!clean) {
      const within = graceMs === undefined ? '' : ` within ${graceMs / 1000} s`;
      const message = hurried ? 'Cut short: not everything stopped' : `Not everything stopped${within}`;
      onProblem(`${message}; what was still in progress was abandoned.`);
    }
    return clean;
  }

  /**
   * Registers a part that has been started.
   * @param patient for a part whose stop has its own time limit and that would outlive the process, as a server does
   * @throws Error, after stopping it, when a stop was requested in the meantime
   */
  async function add(stop: Stop, patient = false): Promise<void> {
    if (requested.signal.aborted) {
      await stop();
      throw new Error('Stopped while starting.');
    }
    parts.push({ stop, patient });
  }

  return {
    add,
    /**
     * Registers a part that is being started: a stop waits for its start.
     * @throws the error of the start; Error, after stopping it, when a stop was requested in the meantime
     */
    async starting<T>(part: Promise<T>, stop: (part: T) => Promise<unknown>, patient = false): Promise<T> {
      // A part that failed to start need not be stopped; the caller of `starting` gets the error.
      await add(() => part.then(stop, () => {}), patient);
      return await part;
    },
    /**
     * Stops all parts; those that do not stop in time are abandoned, and end with the process.
     * @param graceMs for all together, except patient ones, in milliseconds; left out: as long as it takes
     * @returns whether all parts stopped in time; repeated calls get the same answer
     */
    stop(graceMs?: number): Promise<boolean> {
      requested.abort();
      stopping ??= stopAll(graceMs);
      return stopping;
    },
    /** Cuts the grace time short. */
    hurry(): void {
      // Too late: the time was up before.
      if (timeIsUp.signal.aborted) return;
      hurried = true;
      timeIsUp.abort();
    },
    /** Aborted once a stop is requested. */
    signal: requested.signal,
  };
}

/** Whether something stops before the time is up, or a moment later. */
async function inTime(stopped: Promise<unknown>, timeIsUp: AbortSignal): Promise<boolean> {
  const done = new AbortController();
  const over = aborted(AbortSignal.any([timeIsUp, done.signal]))
    .then(() => sleep(MIN_STOP_TIME_MS, false, { signal: done.signal }))
    .catch(() => false);
  return await Promise.race([stopped.then(() => true), over]).finally(() => done.abort());
}

/** Under npm one Ctrl-C arrives twice within this time: from the terminal, and passed on by npm. In milliseconds. */
const SAME_KEYSTROKE_MS = 500;

/**
 * Listens for SIGINT (Ctrl-C), SIGTERM and SIGHUP (the terminal was closed).
 * @param onSignal called with the number of signals so far, from 1
 * @returns a function that stops listening
 */
export function onInterruption(onSignal: (times: number) => void): () => void {
  let times = 0;
  let lastAt = 0;
  const hear = (signal: NodeJS.Signals) => {
    const now = performance.now();
    if (times > 0 && (signal !== 'SIGINT' || now - lastAt < SAME_KEYSTROKE_MS)) return;
    times += 1;
    lastAt = now;
    onSignal(times);
  };
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
  // Not `once`: without a listener the next signal would end the process.
  for (const signal of signals) process.on(signal, hear);
  return () => {
    for (const signal of signals) process.off(signal, hear);
  };
}

/** How often a program that npm started looks for its parent, in milliseconds. */
const PARENT_CHECK_INTERVAL_MS = 500;

/**
 * Notices a SIGTERM sent to npm alone: it ends npm and the shell between npm and us, and most shells do not pass it
 * on. We see that the shell is gone.
 * @param onGone called once, and only in a program that npm has started
 */
export function onNpmGone(onGone: () => void): void {
  if (process.env.npm_lifecycle_event === undefined) return;
  const parent = process.ppid;
  const timer = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(timer);
    onGone();
  }, PARENT_CHECK_INTERVAL_MS);
  timer.unref();
}

/** The exit code that shells expect of a program ended by Ctrl-C. */
export const INTERRUPTED = 130;

/**
 * Runs `work` with a signal that is aborted by Ctrl-C or the end of the terminal; a second Ctrl-C ends the process
 * at once.
 * @param message of the error in that case
 */
export async function untilInterrupted<T>(
  message: string,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const controller = new AbortController();
  // Every request under way listens to it.
  setMaxListeners(Number.POSITIVE_INFINITY, controller.signal);
  const done = onInterruption((times) => {
    if (times > 1) process.exit(INTERRUPTED);
    controller.abort(new UserError(message, INTERRUPTED));
  });
  try {
    return await work(controller.signal);
  } finally {
    done();
  }
}
