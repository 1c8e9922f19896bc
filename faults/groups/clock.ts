/** Clocks that disagree: the worker's differs from the database's by a minute, or jumps by an hour. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Fault } from '../fault.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
/** The longest time until the worker notices its clock's setting, in milliseconds. */
export const TAKES_EFFECT_MS = 200;

function apart(name: string, shiftMs: number): Fault {
  return {
    group: 'clock',
    name: `worker's clock ${name}`,
    policies: ['scaled', 'few'],
    // Before the first order, and for the rest of the round.
    async prepare({ stack, logbook }) {
      logbook.workerClockWrong = true;
      await stack.shiftWorkerClock(shiftMs);
    },
  };
}

function steps(name: string, shiftMs: number): Fault {
  return {
    group: 'clock',
    name: `worker's clock steps ${name}`,
    policies: ['scaled'],
    injectionPoints: ['orders', 12, 19, 20],
    lasts: [1_000, 6_000],
    async inject({ stack, logbook }) {
      logbook.workerClockWrong = true;
      await stack.shiftWorkerClock(shiftMs);
      await sleep(TAKES_EFFECT_MS);
    },
    heal: ({ stack }) => stack.shiftWorkerClock(0),
  };
}

export const clockFaults: readonly Fault[] = [
  apart('a minute behind', -MINUTE_MS),
  apart('a minute ahead', MINUTE_MS),
  steps('back an hour', -HOUR_MS),
  steps('ahead an hour', HOUR_MS),
];
