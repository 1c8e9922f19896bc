/**
 * Work that runs side by side and still comes out as if each piece had waited for the one before it.
 * @module
 */

/** A thing that a piece of work uses: several may share it, or one has it alone. */
export interface Use {
  readonly lane: string;
  /** True when others that share the lane do not mind each other. */
  readonly shared: boolean;
}

interface Lane {
  /** The last work that had the lane alone, and those that share it since. */
  alone: Promise<void>;
  sharing: Set<Promise<void>>;
  /** Pieces that have not ended. */
  open: number;
}

/**
 * Makes the lanes. Work begins when everything that was given earlier and uses one of its lanes has ended, except
 * where both share it. So none waits for a later one, and none waits in a circle.
 */
export function createLanes(): <T>(uses: readonly Use[], work: () => Promise<T>) => Promise<T> {
  const lanes = new Map<string, Lane>();

  function enter({ lane: name, shared }: Use, done: Promise<void>): Promise<unknown> {
    const lane = lanes.get(name) ?? { alone: Promise.resolve(), sharing: new Set(), open: 0 };
    lanes.set(name, lane);
    lane.open += 1;
    const before = shared ? [lane.alone] : [lane.alone, ...lane.sharing];
    if (shared) lane.sharing.add(done);
    else Object.assign(lane, { alone: done, sharing: new Set() });
    return Promise.all(before);
  }

  function leave({ lane: name }: Use, done: Promise<void>): void {
    const lane = lanes.get(name);
    if (lane === undefined) return;
    lane.sharing.delete(done);
    lane.open -= 1;
    if (lane.open === 0) lanes.delete(name);
  }

  return async (uses, work) => {
    let end = () => {};
    const done = new Promise<void>((resolve) => {
      end = resolve;
    });
    await Promise.all(uses.map((use) => enter(use, done)));
    try {
      return await work();
    } finally {
      end();
      for (const use of uses) leave(use, done);
    }
  };
}
