/** Distant servers: every response takes longer, but no attempt is late. */
import { type Fault, type Scene, usual } from '../fault.ts';
import { killing } from './kill.ts';

/** Round-trip times in milliseconds: Temporal in another region, Postgres in another zone. */
const TEMPORAL_MS = 50;
const POSTGRES_MS = 5;

function distance({ stack: { links } }: Scene, temporalMs: number, postgresMs: number): void {
  links.workerToTemporal.delay(temporalMs);
  links.workerToPostgres.delay(postgresMs);
  links.apiToPostgres.delay(postgresMs);
}

const remote = (what: string, of: Pick<Fault, 'lasts' | 'inject' | 'heal'>): Fault => ({
  group: 'remote',
  name: `far away: ${what}`,
  ...usual,
  prepare: async (scene) => distance(scene, TEMPORAL_MS, POSTGRES_MS),
  finish: async (scene) => distance(scene, 0, 0),
  ...of,
});

export const remoteFaults: readonly Fault[] = [
  remote('worker killed', { ...killing(({ worker }) => [worker]), lasts: [0, 2_000] }),
  remote('the ways to Postgres and Temporal cut', {
    lasts: [0, 3_000],
    async inject({ stack: { links } }) {
      for (const link of Object.values(links)) link.refuse();
    },
    async heal({ stack: { links } }) {
      for (const link of Object.values(links)) link.pass();
    },
  }),
];
