/** PgBouncer between Waybill and Postgres, in both of its modes: no statement may depend on its session. */
import type { PoolMode } from '../../test/support/pooler.ts';
import type { Fault } from '../fault.ts';
import { endingConnections } from './postgres.ts';

function faultsOf(mode: PoolMode): Fault[] {
  const fault = (what: string, of: Pick<Fault, 'lasts' | 'inject' | 'heal'>): Fault => ({
    group: 'pooler',
    name: `${mode} pooling: ${what}`,
    policies: ['scaled', 'hours'],
    injectionPoints: ['orders', 'slow', 1, 19, 20],
    pooler: mode,
    ...of,
  });
  return [
    fault('worker killed', {
      lasts: [0, 2_000],
      inject: ({ stack }) => stack.worker.kill(),
      heal: ({ stack }) => stack.worker.start(),
    }),
    fault('pooler killed', {
      lasts: [0, 3_000],
      inject: ({ stack }) => stack.poolers[mode].kill(),
      heal: ({ stack }) => stack.poolers[mode].start(),
    }),
    fault('its connections ended by the server', endingConnections),
  ];
}

export const poolerFaults: readonly Fault[] = [...faultsOf('transaction'), ...faultsOf('session')];
