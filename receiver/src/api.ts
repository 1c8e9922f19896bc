/**
 * The part of the warehouse's API that a receiver needs: the list of deliveries, their payloads, and the records
 * that GET deliveries name.
 */
import { type Delivery, isKind, type Origin } from './delivery.ts';
import { kinds } from './kinds.ts';
import { ApiError, type ApiOptions, openSession } from './session.ts';

/** The cursor before the oldest delivery or event. */
export const BEGINNING = '00000000-0000-0000-0000-000000000000';
/** Asks for the cursor of everything written from now on. */
const FROM_NOW_ON = 'ffffffff-ffff-ffff-ffff-ffffffffffff';

/** States of an ended delivery. */
const ended = ['delivered', 'failed', 'expired', 'superseded', 'canceled'] as const;
/** States of an open delivery. */
const open = ['pending', 'retrying', 'held'] as const;

/** A delivery as the API lists it. */
export interface ListedDelivery {
  readonly id: string;
  readonly webhookId: number;
  readonly eventId: string;
  readonly webhookType: string;
  readonly entityId: string;
  /** The position of its event among those of the record. */
  readonly sequence: number;
  /** Who made the change, and the changed fields, joined by commas; absent from a sender that does not know them. */
  readonly origin?: string | null;
  readonly changed?: string | null;
  readonly state: (typeof ended)[number] | (typeof open)[number];
}

/** Whether the sender may still attempt it by itself. */
export function isOpen({ state }: Pick<ListedDelivery, 'state'>): boolean {
  return open.some((each) => each === state);
}

/** Deliveries after a cursor, oldest first. */
export interface DeliveryPage {
  readonly deliveries: readonly ListedDelivery[];
  /** The next `after`, and whether there is more to read now. */
  readonly cursor: { readonly after: string; readonly more: boolean };
}

/** An event as the API lists it. */
export interface ListedEvent {
  readonly id: string;
  readonly webhookType: string;
  readonly entityId: string;
  readonly sequence: number;
  readonly createdAt: string;
  readonly origin: Origin;
  /** The fields that the write changed, joined by commas, as in `X-Service-Changed`; null if it is not an update. */
  readonly changed: string | null;
  /** Triggered by an operator: its record does not exist. */
  readonly test: boolean;
}

/** Events after a cursor, oldest first. */
export interface EventPage {
  readonly events: readonly ListedEvent[];
  readonly cursor: DeliveryPage['cursor'];
}

/** An event with its record. */
export interface ReadEvent extends ListedEvent {
  readonly record: object;
}

/** The payload of a delivery. */
export interface SentPayload {
  readonly method: 'POST' | 'GET';
  /** JSON text; null on GET. */
  readonly body: string | null;
  /** True for a test event: its record does not exist. */
  readonly test?: boolean | undefined;
}

/** The API, logged in. Every method throws `ApiError` if the API rejects the request. */
export interface WaybillApi {
  /** @param after the identifier up to which everything has been read */
  deliveries(after: string, filter?: { readonly since?: Date | undefined }): Promise<DeliveryPage>;
  /** One delivery; null if it no longer exists. */
  delivery(deliveryId: string): Promise<ListedDelivery | null>;
  /** The payload of a delivery; null if it no longer exists. */
  payload(deliveryId: string): Promise<SentPayload | null>;
  /**
   * Where `events` has to begin to read what happens from now on. That includes events that are being written now,
   * and perhaps those of the seconds before.
   */
  newEvents(): Promise<string>;
  /** @param after the identifier up to which everything has been read */
  events(after: string, filter?: { readonly since?: Date | undefined }): Promise<EventPage>;
  /** An event with its record as it was then, packing lists included; null if it is no longer stored. */
  event(id: string): Promise<ReadEvent | null>;
  /** The record that a delivery names, as it is now. For `receiver({ read: api.read })`. */
  read(delivery: Pick<Delivery, 'kind' | 'entityId'>): Promise<object>;
}

/**
 * The API for this user. Logs in when needed, and waits when told to.
 *
 * @example const api = waybill({ url: 'https://warehouse.example', apiKey, username, password });
 * @throws TypeError naming the first option that is empty
 */
export function waybill(options: ApiOptions): WaybillApi {
  const { payloadVersion = 'v2' } = options;
  const { get } = openSession(options);
  async function eventsAfter(after: string, since?: Date): Promise<EventPage> {
    const query = pageAfter(after, since);
    const { data, cursor } = await get<readonly ListedEvent[], Pick<EventPage, 'cursor'>>(
      `/v21/events?${query}`,
    );
    return { events: data, cursor };
  }
  return {
    async deliveries(after, { since } = {}) {
      const query = pageAfter(after, since);
      const answer = await get<readonly ListedDelivery[], Pick<DeliveryPage, 'cursor'>>(
        `/v21/deliveries?${query}`,
      );
      return { deliveries: answer.data, cursor: answer.cursor };
    },
    delivery: (deliveryId) =>
      unlessGone(
        async () => (await get<ListedDelivery>(`/v21/deliveries/${encodeURIComponent(deliveryId)}`)).data,
      ),
    newEvents: async () => (await eventsAfter(FROM_NOW_ON)).cursor.after,
    events: (after, { since } = {}) => eventsAfter(after, since),
    event: (id) =>
      unlessGone(
        async () => (await get<ReadEvent>(`/${payloadVersion}/events/${encodeURIComponent(id)}`)).data,
      ),
    payload: (deliveryId) =>
      unlessGone(async () => {
        const answer = await get<object | null, { readonly request: Omit<SentPayload, 'body'> }>(
          `/v21/deliveries/${encodeURIComponent(deliveryId)}/payload`,
        );
        const body = answer.data === null ? null : JSON.stringify(answer.data);
        const { method, test } = answer.request;
        return { method, body, test };
      }),
    async read({ kind, entityId }) {
      if (!isKind(kind) || entityId === null) throw new TypeError(`${kind} is not a known kind of event.`);
      const path = `/${payloadVersion}${kinds[kind].path}/${encodeURIComponent(entityId)}`;
      return (await get<object>(path)).data;
    },
  };
}

function pageAfter(after: string, since: Date | undefined): URLSearchParams {
  return new URLSearchParams({ after, items: '100', ...(since && { since: since.toISOString() }) });
}

/** @returns null if it no longer exists */
async function unlessGone<T>(read: () => Promise<T>): Promise<T | null> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return null;
    throw error;
  }
}
