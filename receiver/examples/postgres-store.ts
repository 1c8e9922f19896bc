/** The handled deliveries, in Postgres: `npm install postgres`. */

import type { Store } from '@waybill-hq/receiver';
import type { Sql } from 'postgres';

/** Run once. Old rows may go: `delete from handled_deliveries where at < now() - interval '30 days'`. */
export const schema = `
  create table if not exists handled_deliveries (
    id uuid primary key,
    -- Who handles it, until when; null once it was handled.
    claimant text,
    until timestamptz,
    at timestamptz not null default now()
  )`;

export function postgresStore(sql: Sql): Store {
  return {
    async claim(id, claimant, leaseMs) {
      // Of two who claim at the same time the second waits for the first, and then finds its claim.
      const [mine] = await sql`
        insert into handled_deliveries as handled (id, claimant, until)
        values (${id}, ${claimant}, now() + ${leaseMs} * interval '1 millisecond')
        on conflict (id) do update set claimant = excluded.claimant, until = excluded.until
        where handled.until <= now()
        returning id`;
      if (mine !== undefined) return 'claimed';
      const [other] = await sql`select until is null as done from handled_deliveries where id = ${id}`;
      return other?.done === true ? 'done' : 'busy';
    },
    async done(id) {
      await sql`
        insert into handled_deliveries (id) values (${id})
        on conflict (id) do update set claimant = null, until = null, at = now()`;
    },
    async release(id, claimant) {
      await sql`delete from handled_deliveries where id = ${id} and claimant = ${claimant}`;
    },
    async handledOf(ids) {
      const rows = await sql<{ id: string }[]>`
        select id from handled_deliveries where id = any(${[...ids]}::uuid[]) and until is null`;
      return new Set(rows.map(({ id }) => id));
    },
  };
}
