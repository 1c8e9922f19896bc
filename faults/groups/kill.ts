/** Processes that die or freeze: each part alone, several, all. */
import type { Fault, Scene } from '../fault.ts';
import type { InjectionPoint } from '../injection-point.ts';
import type { Part } from '../stack/part.ts';
import type { Stack } from '../stack/stack.ts';

/** First attempts, one in the middle, and those before the longest waits. */
const INJECTION_POINTS: readonly InjectionPoint[] = ['orders', 'slow', 1, 12, 19, 20, 21];

/** Chooses parts of a stack. */
type Parts = (stack: Stack) => readonly Part[];

/** By their names in faults. */
export const partsByName = {
  API: ({ api }) => [api],
  worker: ({ worker }) => [worker],
  Postgres: ({ postgres }) => [postgres],
  Temporal: ({ temporal }) => [temporal],
  everything: ({ postgres, temporal, api, worker }) => [postgres, temporal, api, worker],
} as const satisfies Record<string, Parts>;
const allNames = ['API', 'worker', 'Postgres', 'Temporal', 'everything'] as const;
type Name = keyof typeof partsByName;

/** Kills parts and starts them again. */
export function killing(parts: Parts): Pick<Fault, 'policies' | 'lasts' | 'inject' | 'heal'> {
  return {
    policies: ['scaled', 'hours'],
    lasts: [0, 3_000],
    async inject({ stack }) {
      await Promise.all(parts(stack).map((part) => part.kill()));
    },
    async heal({ stack }) {
      // Servers first: Waybill needs them to start.
      for (const part of parts(stack)) await part.start();
    },
  };
}

export function killed(name: Name): Fault {
  const parts = partsByName[name];
  return { group: 'kill', name: `${name} killed`, injectionPoints: INJECTION_POINTS, ...killing(parts) };
}

export function frozen(name: Name): Fault {
  const parts: Parts = partsByName[name];
  const each = (visit: (part: Part) => void) => async (scene: Scene) => parts(scene.stack).forEach(visit);
  return {
    group: 'kill',
    name: `${name} frozen`,
    policies: ['scaled', 'hours'],
    injectionPoints: INJECTION_POINTS,
    lasts: [1_000, 6_000],
    inject: each((part) => part.freeze()),
    heal: each((part) => part.thaw()),
  };
}

export const killFaults: readonly Fault[] = [...allNames.map(killed), ...allNames.map(frozen)];
