/** The record that is changed most often at this moment, if it is in a loop. */
import { type ChangeLoop, LOOP_CHANGES_PER_MINUTE } from '../../domain/change-loop.ts';
import { STOCK_ONLY } from '../../domain/changed-fields.ts';
import { type EventType, eventTypeNames, eventTypes } from '../../domain/event-types.ts';
import { idAt } from '../../domain/id-time.ts';
import { databaseTime } from '../clock.ts';
import type { Sql } from '../connection/pool.ts';

const MINUTE_MS = 60_000;
const UPDATES = eventTypeNames.filter((type) => eventTypes[type].on === 'updated');

export interface FoundLoop extends ChangeLoop {
  readonly type: EventType;
  readonly entityId: string;
}

/** @param since no older events are read @param eshopId null: of any e-shop */
export function selectChangeLoop(sql: Sql, since: Date, eshopId: number | null) {
  const ofEshop = eshopId === null ? sql`` : sql`and eshop_id = ${eshopId}`;
  // Sales alone may move the stock of a product that often.
  return sql<Omit<FoundLoop, 'kind'>[]>`
    select eshop_id, type, entity_id, count(*)::int as changes from events
    where id >= ${idAt(since)}::uuid and type = any(${UPDATES}::text[]) and changed is distinct from ${STOCK_ONLY} ${ofEshop}
    group by eshop_id, type, entity_id having count(*) >= ${LOOP_CHANGES_PER_MINUTE}
    order by changes desc limit 1`;
}

/** Reads by ids of the last minute: older rows cost nothing. Null without a loop. @param eshopId null: of any */
export async function readChangeLoop(sql: Sql, eshopId: number | null = null): Promise<FoundLoop | null> {
  const since = new Date((await databaseTime(sql)).getTime() - MINUTE_MS);
  const [found] = await selectChangeLoop(sql, since, eshopId);
  return found === undefined ? null : { ...found, kind: eventTypes[found.type].entity };
}
