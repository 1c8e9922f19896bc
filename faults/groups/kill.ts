/** Processes that die or freeze: each part alone, several, all. */
import { setTimeout as sleep } from 'node:timers/promises';
import { jitteredWait } from '../../src/domain/retry-policy.ts';
import type { Part } from '../../test/support/harness/part.ts';
import { until } from '../../test/support/until.ts';
import type { Fault, Scene } from '../fault.ts';
import type { InjectionPoint } from '../injection-point.ts';
import { policyOf } from '../policies.ts';
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

/** The first and the last attempt before whose successor the worker is frozen. */
const FROZEN_AFTER = { first: 14, last: 18 } as const;
/**
 * How late each of the following attempts comes, in milliseconds. Too low: all of it fits into the room of the
 * window. Too high: the window is over before the last attempt.
 */
const EACH_LATE_MS = 2_600;
/** The result of an attempt is recorded by then, in milliseconds. */
const RECORDED_MS = 200;

/** Several outages of one delivery: only all delays together leave too little time for the waits as planned. */
const frozenAgainAndAgain: Fault = {
  group: 'kill',
  name: 'worker frozen before five attempts in a row',
  policies: ['tight'],
  injectionPoints: [FROZEN_AFTER.first],
  async inject({ stack, receivers, logbook }) {
    const policy = policyOf('tight');
    const failing = receivers.all.find(({ kind }) => kind === 'failing');
    for (let number: number = FROZEN_AFTER.first; number <= FROZEN_AFTER.last; number += 1) {
      const answered = () =>
        failing?.arrivals.find((each) => each.number === number && Number.isFinite(each.endedAt));
      const arrival = await until('the next attempt', async () => answered(), policy.windowMs).catch(
        () => null,
      );
      // The checker knows whether it should have come.
      if (arrival === null) return;
      await sleep(RECORDED_MS);
      const from = Date.now();
      stack.worker.freeze();
      await sleep(jitteredWait(policy, arrival.deliveryId, number) + EACH_LATE_MS - RECORDED_MS);
      stack.worker.thaw();
      logbook.outages.push({ from, to: Date.now() });
    }
  },
};

export const killFaults: readonly Fault[] = [
  ...allNames.map(killed),
  ...allNames.map(frozen),
  frozenAgainAndAgain,
];
