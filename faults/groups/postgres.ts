/** A Postgres that is up, but does not do what it is asked. */
import { setTimeout as sleep } from 'node:timers/promises';
import postgres from 'postgres';
import { type Fault, type Scene, usual } from '../fault.ts';

const fault = (name: string, of: Pick<Fault, 'lasts' | 'inject' | 'heal'>): Fault => ({
  group: 'postgres',
  name,
  ...usual,
  ...of,
});

/** Functions that release the locks or connections of a fault, by scene. */
export const releases = new WeakMap<Scene, () => Promise<void>>();

/** Releases them, once. */
export async function release(scene: Scene): Promise<void> {
  const own = releases.get(scene);
  releases.delete(scene);
  await own?.();
}

/** Ends every connection to the database except this one: behind a pooler they have no name. */
export async function endConnections(sql: postgres.Sql): Promise<void> {
  await sql`
    select pg_terminate_backend(pid) from pg_stat_activity
    where datname = current_database() and backend_type = 'client backend' and pid <> pg_backend_pid()`;
}

const readOnly = fault('read-only', {
  lasts: [1_000, 6_000],
  inject: (scene) => alterSystem(scene, 'set default_transaction_read_only = on'),
  heal: (scene) => alterSystem(scene, 'reset default_transaction_read_only'),
});

/** A session outside Waybill's pools, past the proxies. */
const openSession = ({ postgres: server }: Scene['stack']) =>
  postgres(server.url, { max: 1, onnotice: () => {} });

/** In a session of its own: Waybill closes the sessions of its pools when the database is read-only. */
async function alterSystem({ stack }: Scene, change: string): Promise<void> {
  const mine = openSession(stack);
  await mine.unsafe(`alter system ${change}`);
  await mine`select pg_reload_conf()`;
  await mine.end({ timeout: 1 });
}

const restarted = fault('restarted', {
  lasts: [0, 2_000],
  inject: ({ stack }) => stack.postgres.stop(),
  heal: ({ stack }) => stack.postgres.start(),
});

/** The number of connections that a foreign program takes at once and keeps. */
const GREED = 40;
/** In milliseconds. */
const CONNECT_MS = 3_000;

const outOfConnections = fault('out of connections', {
  lasts: [2_000, 6_000],
  async inject(scene) {
    const { sql } = scene.stack;
    const held: postgres.Sql[] = [];
    /** Takes some more connections; false if it did not get all of them. */
    const greedy = async () => {
      const more = Array.from({ length: GREED }, () => openSession(scene.stack));
      held.push(...more);
      const patience = sleep(CONNECT_MS, 'late' as const);
      const answers = more.map((each) =>
        Promise.race([each`select 1`.then(() => 'taken' as const), patience]),
      );
      const results = await Promise.allSettled(answers);
      return results.every((result) => result.status === 'fulfilled' && result.value === 'taken');
    };
    while (await greedy());
    // Waybill's own connections are ended too, and the other program is quicker to take them.
    await endConnections(sql);
    await greedy();
    releases.set(scene, async () => {
      await Promise.all(held.map((each) => each.end({ timeout: 0 })));
    });
  },
  heal: release,
});

/** Connections that the server ends, again and again for a moment. */
export const endingConnections: Pick<Fault, 'lasts' | 'inject'> = {
  lasts: [500, 2_000],
  async inject({ stack: { sql } }) {
    for (let round = 0; round < 3; round += 1) {
      await endConnections(sql);
      await sleep(100);
    }
  },
};

export const postgresFaults: readonly Fault[] = [
  readOnly,
  restarted,
  outOfConnections,
  fault('connections ended by the server', endingConnections),
];
