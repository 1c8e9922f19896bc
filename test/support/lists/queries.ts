/**
 * Every filter of `GET /deliveries` and `GET /events`, and every combination of them, from both ends: their queries.
 */
import type postgres from 'postgres';
import { pageOf } from '../../../src/api/pagination.ts';
import { countEvents, type EventFilter, listEvents } from '../../../src/db/event-log.ts';
import type { Slice } from '../../../src/db/id-range.ts';
import type { Pool } from '../../../src/db/pool.ts';
import {
  type AllDeliveriesFilter,
  countAllDeliveries,
  listAllDeliveries,
} from '../../../src/db/webhooks/all-deliveries.ts';
import { deliveryStates } from '../../../src/domain/delivery-state.ts';
import { idAt } from '../../../src/domain/id-time.ts';
import type { Seeded } from './seed.ts';

/** Parts of a list: its first page, the last page available in a long list, the page after a cursor. */
export const directions = ['newest', 'deepest', 'cursor'] as const;
/** One of {@link directions}. */
export type Direction = (typeof directions)[number];

/** A list with a filter. */
export interface ListQuery {
  /** `deliveries` or `events`. */
  readonly list: string;
  /** The names of its filters, each with its value if there are several kinds of values. */
  readonly filters: readonly string[];
  /** The queries for the response, not sent yet. */
  queries(direction: Direction): readonly postgres.Fragment[];
}

const BEGINNING = '00000000-0000-0000-0000-000000000000';
/** The API's default page; its last available page; a cursor at the beginning. */
const ASKED: Readonly<Record<Direction, { page?: number; items?: number; after?: string }>> = {
  newest: {},
  deepest: { page: 100, items: 100 },
  cursor: { after: BEGINNING },
};

/** The same as a slice of the list. */
function sliceOf(direction: Direction): Slice {
  const { limit, offset } = pageOf(ASKED[direction]);
  return direction === 'cursor'
    ? { limit: limit + 1, after: BEGINNING, before: idAt(new Date()) }
    : { limit, offset };
}

/** A value of a filter, with its label. */
type Value<Filter> = readonly [label: string, part: Partial<Filter>];

interface Combination<Filter> {
  readonly labels: readonly string[];
  readonly filter: Partial<Filter>;
}

/** All combinations of at most one value of each filter, including none. */
function combined<Filter extends object>(
  filters: readonly (readonly Value<Filter>[])[],
): Combination<Filter>[] {
  let all: Combination<Filter>[] = [{ labels: [], filter: {} }];
  for (const values of filters) {
    const more = all.flatMap(({ labels, filter }) =>
      values.map(([label, part]) => ({ labels: [...labels, label], filter: { ...filter, ...part } })),
    );
    all = [...all, ...more];
  }
  return all;
}

/** Every query that the API can be asked for. */
export function listQueries(sql: Pool, seeded: Seeded): ListQuery[] {
  const { eshopId, webhookId, changedWebhookId, earlierType, entityId, busyEntityId, begin } = seeded;
  const month = Date.now() - begin.getTime();
  const shared: readonly (readonly Value<EventFilter>[])[] = [
    [['webhookType', { webhookType: earlierType }]],
    [
      ['entityId', { entityId }],
      ['entityId (busy)', { entityId: busyEntityId }],
    ],
    [['since', { since: new Date(begin.getTime() + month / 2) }]],
    [['until', { until: new Date(begin.getTime() + (month * 2) / 3) }]],
  ];
  const own: readonly (readonly Value<AllDeliveriesFilter>[])[] = [
    [
      ['webhookId', { webhookId }],
      ['webhookId (changed)', { webhookId: changedWebhookId }],
    ],
    deliveryStates.map((state) => [`state ${state}`, { state }] as const),
    [
      ['lastStatus', { status: { range: { from: 403, to: 403 }, attempts: 'last' } }],
      ['lastStatus and attempts', { status: { range: null, attempts: 'any' } }],
    ],
  ];
  const both = combined<AllDeliveriesFilter>([...own, ...shared]);
  return [
    ...both.map(({ labels, filter }) => deliveriesQuery(sql, eshopId, labels, filter)),
    ...combined<EventFilter>(shared).map(({ labels, filter }) => eventsQuery(sql, eshopId, labels, filter)),
  ];
}

function deliveriesQuery(
  sql: Pool,
  eshopId: number,
  filters: readonly string[],
  filter: AllDeliveriesFilter,
): ListQuery {
  return {
    list: 'deliveries',
    filters,
    queries: (direction) => [
      listAllDeliveries(sql, eshopId, filter, sliceOf(direction)),
      ...(direction !== 'cursor' ? [countAllDeliveries(sql, eshopId, filter)] : []),
    ],
  };
}

function eventsQuery(sql: Pool, eshopId: number, filters: readonly string[], filter: EventFilter): ListQuery {
  return {
    list: 'events',
    filters,
    queries: (direction) => [
      listEvents(sql, eshopId, filter, sliceOf(direction)),
      ...(direction !== 'cursor' ? [countEvents(sql, eshopId, filter)] : []),
    ],
  };
}
