/** The database's clock is set and stays so, as on a replica that is behind or a machine that was moved. */
import { setTimeout as sleep } from 'node:timers/promises';
import { LEASE_SECONDS } from '../../src/db/outbox/outbox.ts';
import type { Fault } from '../fault.ts';
import { type Stack, untilReady } from '../stack/stack.ts';

const HOUR_MS = 3_600_000;

/** Restarts Postgres with a settable clock or with the machine's, and waits until Waybill is connected again. */
async function restart({ postgres, apiUrl }: Stack, settable: boolean): Promise<void> {
  await postgres.stop();
  postgres.clock.settable = settable;
  await postgres.clock.set(0);
  await postgres.start();
  await untilReady(apiUrl);
}

function set(name: string, ms: number, policies: Fault['policies']): Fault {
  return {
    group: 'database clock',
    name: `database's clock set ${name} an hour`,
    policies,
    injectionPoints: ['orders', 'slow', 1],
    lasts: [2_000, 6_000],
    databaseClock: true,
    prepare: ({ stack }) => restart(stack, true),
    async inject({ stack, logbook }) {
      // A time closer to now was written before the step.
      logbook.machineTime = (at) => (Math.abs(at - Date.now()) < HOUR_MS / 2 ? at : at - ms);
      if (ms > 0) logbook.hourPassed = true;
      await stack.postgres.clock.set(ms);
    },
    // Rows claimed by the earlier clock are free after their lease.
    heal: () => sleep(1_000 * LEASE_SECONDS),
    finish: ({ stack }) => restart(stack, false),
  };
}

export const databaseClockFaults: readonly Fault[] = [
  set('back', -HOUR_MS, ['scaled', 'few', 'hours']),
  // Ahead by less than the window.
  set('ahead', HOUR_MS, ['hours']),
];
