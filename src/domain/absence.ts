/**
 * Why an event has no delivery to a webhook (docs/interface.md, L9), derived from the webhook's state at that time.
 */
import { STOCK_ONLY } from './changed-fields.ts';
import { type EventType, typesPhrase } from './event-types.ts';
import { isOwnChange, type Origin } from './origin.ts';
import { counted } from './text.ts';
import type { DeactivationReason } from './webhook.ts';

export interface WebhookVersion {
  readonly webhookId: number;
  readonly at: Date;
  readonly types: readonly EventType[];
  /** Null if not known. */
  readonly active: boolean | null;
  /** Whether it asks for changes of stock alone. */
  readonly onStockChange: boolean;
  /** Whether it leaves out changes by the e-shop itself. */
  readonly skipOwn: boolean;
  readonly deleted: boolean;
  /** Why it is inactive, if it was deactivated with this version. */
  readonly reason: DeactivationReason | null;
  readonly deliveryId: string | null;
  readonly lastError: string | null;
}

/** Why there is no delivery to one webhook. */
export const webhookCauses = {
  createdLater: 'the webhook was created after the event',
  createdInactive: 'it was created inactive and had not been activated yet',
  deactivatedByUser: 'it had been deactivated on request',
  retriesExhausted: 'it had been deactivated because all retries of a delivery had failed',
  gone: 'it had been deactivated because its receiver had responded with 410',
  inactive: 'it was inactive; since when and why is not known',
  otherType: 'it was of another type, or of other types, at that time',
  stockOnly:
    'only the stock of the product changed, and it did not ask for that (`parameters.onStockChange`)',
  ownChange: 'the e-shop made the change itself, and the webhook leaves these out (`skipOwn`)',
  deletedBefore: 'it had been deleted before',
  deletedSince: 'it has been deleted since, with its deliveries',
  changedMeanwhile: 'it was changed while the event was being recorded',
  notKept: 'the delivery is no longer kept',
} as const;
type WebhookCause = keyof typeof webhookCauses;

/** Why there is no delivery to any webhook. */
export const eventCauses = {
  noWebhook: 'there has never been a webhook of this type',
  noActiveWebhook: 'no webhook of this type was active',
  noLongerThere: 'its deliveries were to webhooks that have been deleted since, or are no longer kept',
} as const;
type EventCause = keyof typeof eventCauses;

interface Absence<Cause extends string> {
  readonly cause: Cause;
  readonly reason: string;
}

export interface WebhookAbsence extends Absence<WebhookCause> {
  readonly webhookId: number;
  /** Deleted, before the event or since. */
  readonly deleted: boolean;
}

interface AbsentEvent {
  readonly type: EventType;
  /** The fields that the write changed, joined by commas; null if it is no update. */
  readonly changed: string | null;
  readonly origin: Origin;
  readonly at: Date;
}

/** An event may or may not have seen a change of a webhook within this time of it, in milliseconds. */
export const MEANWHILE_MS = 10_000;

/**
 * @param versions of one webhook without a delivery, oldest first
 * @returns null if no delivery is to be expected: the webhook was created later and has been deleted
 */
export function absenceAt(event: AbsentEvent, versions: readonly WebhookVersion[]): WebhookAbsence | null {
  const [first] = versions;
  const last = versions.at(-1);
  if (first === undefined || last === undefined) return null;
  const { webhookId } = first;
  const absence = (cause: WebhookCause, text: string) => ({
    webhookId,
    deleted: last.deleted,
    cause,
    reason: `Webhook ${webhookId} ${text}`,
  });
  const index = versions.findLastIndex(({ at }) => at <= event.at);
  const then = versions[index];
  if (then === undefined)
    return last.deleted ? null : absence('createdLater', `was created later, at ${iso(first.at)}.`);
  if (then.deleted) return absence('deletedBefore', `had been deleted at ${iso(then.at)}.`);
  if (!then.types.includes(event.type))
    return absence('otherType', `was of the ${typesPhrase(then.types)} at that time.`);
  if (event.changed === STOCK_ONLY && !then.onStockChange)
    return absence('stockOnly', 'did not ask for changes of stock alone.');
  if (then.skipOwn && isOwnChange(event))
    return absence('ownChange', 'leaves out changes by the e-shop itself.');
  if (then.active !== true) return inactive(absence, versions.slice(0, index + 1));
  if (last.deleted)
    return absence('deletedSince', `was deleted at ${iso(last.at)}; its deliveries are no longer available.`);
  const near = versions.find(({ at }) => Math.abs(at.getTime() - event.at.getTime()) <= MEANWHILE_MS);
  if (near !== undefined) {
    return absence('changedMeanwhile', `was changed at ${iso(near.at)}, while the event was being recorded.`);
  }
  return absence('notKept', 'was active; its delivery is no longer kept.');
}

/** @param versions up to the inactive one */
function inactive(
  absence: (cause: WebhookCause, text: string) => WebhookAbsence,
  versions: readonly WebhookVersion[],
) {
  const begin = versions.findLastIndex(({ active }) => active === true) + 1;
  const since = versions[begin];
  const at = since === undefined ? '' : iso(since.at);
  const delivery = `delivery ${since?.deliveryId}`;
  const error = since?.lastError == null ? '' : ` (${since.lastError})`;
  if (since?.reason === 'user')
    return absence('deactivatedByUser', `was inactive: it had been deactivated at ${at} on request.`);
  if (since?.reason === 'retriesExhausted') {
    const why = `because all retries of ${delivery} had failed${error}`;
    return absence('retriesExhausted', `was inactive: it had been deactivated at ${at} ${why}.`);
  }
  if (since?.reason === 'gone') {
    const why = `because its receiver had responded to ${delivery} with 410 Gone`;
    return absence('gone', `was inactive: it had been deactivated at ${at} ${why}.`);
  }
  if (begin === 0 && since?.active === false) {
    return absence(
      'createdInactive',
      `was inactive: it was created inactive at ${at} and had not been activated yet.`,
    );
  }
  return absence('inactive', 'was inactive; since when and why is not known.');
}

/** @param absences of the webhooks of its type */
export function absenceOf(
  { type, changed, at }: Omit<AbsentEvent, 'origin'>,
  absences: readonly WebhookAbsence[],
): Absence<EventCause> {
  if (absences.length === 0)
    return { cause: 'noWebhook', reason: `There has been no webhook of the type ${type}.` };
  const lost = absences.filter(({ cause }) => cause === 'deletedSince' || cause === 'notKept');
  if (lost.length > 0) return { cause: 'noLongerThere', reason: reasonsOf(lost).join(' ') };
  const asking = changed === STOCK_ONLY ? ' that asks for changes of stock alone' : '';
  const isSkipped = absences.some(({ cause }) => cause === 'ownChange');
  const taking = isSkipped ? ' that takes changes by the e-shop itself' : '';
  const none = `No webhook of the type ${type}${asking}${taking} was active at ${iso(at)}.`;
  return { cause: 'noActiveWebhook', reason: [none, ...reasonsOf(absences)].join(' ') };
}

/** The reasons of existing webhooks; deleted ones are only counted, unless there is just one webhook, deleted. */
function reasonsOf(absences: readonly WebhookAbsence[]): string[] {
  const existing = absences.filter(({ deleted }) => !deleted).map(({ reason }) => reason);
  if (existing.length === 0 && absences.length === 1) return absences.map(({ reason }) => reason);
  const shown = existing.slice(0, MAX_NAMED);
  const more = existing.length - shown.length;
  const deleted = absences.length - existing.length;
  return [
    ...shown,
    ...(more > 0 ? [`${more} more are listed in \`webhooks\`.`] : []),
    ...(deleted > 0
      ? [`${counted(deleted, 'deleted webhook')} ${deleted === 1 ? 'is' : 'are'} listed in \`webhooks\`.`]
      : []),
  ];
}

/** The maximum number of webhooks named in one reason. */
const MAX_NAMED = 3;

function iso(at: Date): string {
  return at.toISOString();
}
