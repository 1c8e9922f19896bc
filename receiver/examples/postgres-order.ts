/** How far each record has come, in Postgres: `npm install postgres`. */

import type { Order } from '@waybill-hq/receiver';
import type { Sql } from 'postgres';

/** Run once. A row for each record stays: without it, something old would pass for new. */
export const schema = `
  create table if not exists records_handled (
    record text primary key,
    sequence bigint not null default 0,
    -- Whose turn it is, until when; null where nobody has it.
    claimant text,
    until timestamptz
  )`;

export function postgresOrder(sql: Sql): Order {
  return {
    async begin(record, claimant, leaseMs) {
      // Of two who begin at the same time the second waits for the first, and then finds its turn.
      const [mine] = await sql<{ sequence: string }[]>`
        insert into records_handled as handled (record, claimant, until)
        values (${record}, ${claimant}, now() + ${leaseMs} * interval '1 millisecond')
        on conflict (record) do update set claimant = excluded.claimant, until = excluded.until
        where handled.claimant is null or handled.until <= now()
        returning sequence`;
      return mine === undefined ? 'busy' : Number(mine.sequence);
    },
    async advance(record, claimant, sequence) {
      await sql`
        insert into records_handled as handled (record, sequence) values (${record}, ${sequence})
        on conflict (record) do update set sequence = greatest(handled.sequence, excluded.sequence),
          claimant = nullif(handled.claimant, ${claimant})`;
    },
    async release(record, claimant) {
      await sql`update records_handled set claimant = null where record = ${record} and claimant = ${claimant}`;
    },
  };
}
