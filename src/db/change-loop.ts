/** The record that is changed most often at this moment, if it is in a loop. */
import { type ChangeLoop, LOOP_CHANGES_PER_MINUTE } from '../domain/change-loop.ts';
import { eventTypeNames, eventTypes } from '../domain/event-types.ts';
import { idAt } from '../domain/id-time.ts';
import { databaseTime } from './clock.ts';
import type { Sql } from './pool.ts';

const MINUTE_MS = 60_000;
const UPDATES = eventTypeNames.filter((type) => eventTypes[type].on === 'updated');

export interface FoundLoop extends ChangeLoop {
  readonly entityId: string;
}

/** Reads by the ids of the last minute: older rows cost nothing. Null if no record is in a loop. */
export async function readChangeLoop(sql: Sql): Promise<FoundLoop | null> {
  const from = idAt(new Date((await databaseTime(sql)).getTime() - MINUTE_MS));
  const [found] = await sql<
    { eshopId: number; type: keyof typeof eventTypes; entityId: string; changes: number }[]
  >`
    select eshop_id, type, entity_id, count(*)::int as changes from events
    where id >= ${from}::uuid and type = any(${UPDATES}::text[])
    group by eshop_id, type, entity_id having count(*) >= ${LOOP_CHANGES_PER_MINUTE}
    order by changes desc limit 1`;
  if (found === undefined) return null;
  const { type, ...rest } = found;
  return { ...rest, kind: eventTypes[type].entity };
}
