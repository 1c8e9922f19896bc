/** PgBouncer between Waybill and Postgres, in both of its modes: no statement may depend on its session. */
import type { PoolMode } from '../../test/support/servers/pooler.ts';
import { type Fault, usual } from '../fault.ts';
import { killing } from './kill.ts';
import { endingConnections } from './postgres.ts';

function faultsOf(mode: PoolMode): Fault[] {
  const fault = (what: string, of: Pick<Fault, 'lasts' | 'inject' | 'heal'>): Fault => ({
    group: 'pooler',
    name: `${mode} pooling: ${what}`,
    ...usual,
    pooler: mode,
    ...of,
  });
  return [
    fault('worker killed', { ...killing(({ worker }) => [worker]), lasts: [0, 2_000] }),
    fault(
      'pooler killed',
      killing(({ poolers }) => [poolers[mode]]),
    ),
    fault('its connections ended by the server', endingConnections),
  ];
}

export const poolerFaults: readonly Fault[] = [...faultsOf('transaction'), ...faultsOf('session')];
