/** The payload of an event for a webhook (docs/interface.md, D1–D3). */
import { type EventType, eventTypes, packingListEventTypes } from './event-types.ts';
import type { Origin } from './origin.ts';
import { hasPersonalData } from './personal-data.ts';
import { type RenderOptions, render } from './render.ts';
import { requestTarget } from './request-target.ts';
import type { RequestSettings } from './webhook.ts';

export function payloadOptions(
  event: Pick<EventForWebhook, 'payloadVersion' | 'parameters' | 'eventType'>,
): RenderOptions {
  const { payloadVersion, parameters, eventType } = event;
  const withPackingLists = parameters?.withPackingLists === true && packingListEventTypes.includes(eventType);
  const kind = eventTypes[eventType].entity;
  const emptied = parameters?.withoutPersonalData === true && hasPersonalData(kind);
  return {
    version: payloadVersion,
    withPackingLists,
    ...(emptied ? { withoutPersonalDataOf: kind } : {}),
  };
}

/** An event with the request settings of the webhook that gets it. */
interface EventForWebhook extends RequestSettings {
  readonly eventType: EventType;
  readonly entityId: string;
  /** The record in its v2 form, or its JSON text. */
  readonly snapshot: string | object;
}

/** The event of a delivery, with everything for its headers. */
export interface SentEvent extends EventForWebhook {
  readonly eventId: string;
  /** The position of the event among those of its record, from 1. */
  readonly sequence: number;
  readonly happenedAt: Date;
  readonly origin: Origin;
  /** The fields that the write changed, joined by commas; null if it is no update. */
  readonly changed: string | null;
  /** Triggered by an operator: the record does not exist. */
  readonly test: boolean;
}

/**
 * The request without headers: the whole URL, and the body as JSON text, which is null on GET.
 * @throws TypeError if the URL is not absolute
 */
export function payloadOf(event: EventForWebhook) {
  const { method, url, entityId, snapshot } = event;
  const { origin, path } = requestTarget(url, method === 'GET' ? entityId : null);
  return {
    method,
    url: `${origin}${path}`,
    body: method === 'GET' ? null : render(snapshot, payloadOptions(event)),
  };
}
