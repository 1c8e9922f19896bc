/**
 * Why an event has no delivery to a webhook (docs/interface.md, L9), derived from the webhook's state at that time.
 */
import { STOCK_ONLY } from './changed-fields.ts';
import type { EventType } from './event-types.ts';
import { isOwnChange, type Origin } from './origin.ts';
import { counted } from './text.ts';
import type { DeactivationReason } from './webhook.ts';

export interface WebhookVersion {
  readonly webhookId: number;
  readonly at: Date;
  readonly types: readonly EventType[];
  /** Null if not known. */
  readonly active: boolean | null;
  readonly onStockChange: boolean;
  readonly skipOwn: boolean;
  readonly deleted: boolean;
  /** Why it is inactive, if this version is its deactivation. */
  readonly reason: DeactivationReason | null;
  readonly deliveryId: string | null;
  readonly lastError: string | null;
}

/** Why there is no delivery to one webhook: the end of a sentence, with {details} of the causing version. */
export const webhookCauses = {
  createdLater: 'was created later, at {at}.',
  createdInactive: 'was inactive: it was created inactive at {at} and had not been activated yet.',
  deactivatedByUser: 'was inactive: it had been deactivated at {at} on request.',
  retriesExhausted:
    'was inactive: it had been deactivated at {at} because all retries of delivery {delivery} had failed{error}.',
  gone: 'was inactive: it had been deactivated at {at} because its receiver had responded to delivery {delivery} with 410 Gone.',
  inactive: 'was inactive; since when and why is not known.',
  otherType: 'was of the {types} at that time.',
  stockOnly: 'did not ask for changes to stock alone.',
  ownChange: 'leaves out changes by the e-shop itself.',
  deletedBefore: 'had been deleted at {at}.',
  deletedSince: 'was deleted at {at}; its deliveries are no longer available.',
  changedMeanwhile: 'was changed at {at}, while the event was being recorded.',
  notKept: 'was active; its delivery is no longer kept.',
} as const;
type WebhookCause = keyof typeof webhookCauses;

/** Why there is no delivery to any webhook. */
export const eventCauses = {
  noWebhook: 'there has never been a webhook of this type',
  noActiveWebhook: 'no webhook of this type was active',
  noLongerThere: 'its deliveries were to webhooks that have been deleted since, or are no longer kept',
} as const;

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

/** If a webhook changed within this time of an event, the event may or may not have seen it, in milliseconds. */
export const MEANWHILE_MS = 10_000;

/**
 * @param versions of one webhook without a delivery, oldest first
 * @returns null if no delivery is to be expected: the webhook was created later and has been deleted
 */
export function absenceAt(event: AbsentEvent, versions: readonly WebhookVersion[]): WebhookAbsence | null {
  const [first] = versions;
  const last = versions.at(-1);
  if (first === undefined || last === undefined) return null;
  const absence = (cause: WebhookCause, version: WebhookVersion) => ({
    webhookId: version.webhookId,
    deleted: last.deleted,
    cause,
    reason: textOf(cause, version),
  });
  const index = versions.findLastIndex(({ at }) => at <= event.at);
  const then = versions[index];
  if (then === undefined) return last.deleted ? null : absence('createdLater', first);
  if (then.deleted) return absence('deletedBefore', then);
  if (!then.types.includes(event.type)) return absence('otherType', then);
  if (event.changed === STOCK_ONLY && !then.onStockChange) return absence('stockOnly', then);
  if (then.skipOwn && isOwnChange(event)) return absence('ownChange', then);
  if (then.active !== true) {
    const begin = versions.findLastIndex(({ active }, at) => active === true && at < index) + 1;
    const since = versions[begin] ?? then;
    return absence(inactiveCause(since, begin === 0), since);
  }
  if (last.deleted) return absence('deletedSince', last);
  const near = versions.find(({ at }) => Math.abs(at.getTime() - event.at.getTime()) <= MEANWHILE_MS);
  return near === undefined ? absence('notKept', then) : absence('changedMeanwhile', near);
}

const LIST = new Intl.ListFormat('en-GB');

function textOf(cause: WebhookCause, { webhookId, at, types, deliveryId, lastError }: WebhookVersion) {
  const details = {
    at: at.toISOString(),
    types: `${types.length === 1 ? 'type' : 'types'} ${LIST.format(types)}`,
    delivery: deliveryId,
    error: lastError === null ? '' : ` (${lastError})`,
  };
  const text = webhookCauses[cause].replaceAll(/\{(\w+)\}/g, (_, name) => Reflect.get(details, name));
  return `Webhook ${webhookId} ${text}`;
}

/** @param since the first version of its present inactivity */
function inactiveCause({ active, reason }: WebhookVersion, isFirst: boolean): WebhookCause {
  if (reason !== null) return reason === 'user' ? 'deactivatedByUser' : reason;
  return isFirst && active === false ? 'createdInactive' : 'inactive';
}

/** The maximum number of webhooks named in one reason. */
const MAX_NAMED = 3;

/** @param absences of the webhooks of its type */
export function absenceOf(
  { type, changed, at }: Omit<AbsentEvent, 'origin'>,
  absences: readonly WebhookAbsence[],
): Absence<keyof typeof eventCauses> {
  if (absences.length === 0)
    return { cause: 'noWebhook', reason: `There has been no webhook of the type ${type}.` };
  const lost = absences.filter(({ cause }) => cause === 'deletedSince' || cause === 'notKept');
  if (lost.length > 0) return { cause: 'noLongerThere', reason: reasonsOf(lost).join(' ') };
  const asking = changed === STOCK_ONLY ? ' that asks for changes to stock alone' : '';
  const isSkipped = absences.some(({ cause }) => cause === 'ownChange');
  const taking = isSkipped ? ' that takes changes by the e-shop itself' : '';
  const noneActive = `No webhook of the type ${type}${asking}${taking} was active at ${at.toISOString()}.`;
  return { cause: 'noActiveWebhook', reason: [noneActive, ...reasonsOf(absences)].join(' ') };
}

/** The reasons of existing webhooks; deleted ones are only counted, unless the only webhook is deleted. */
function reasonsOf(absences: readonly WebhookAbsence[]): string[] {
  const existing = absences.filter(({ deleted }) => !deleted).map(({ reason }) => reason);
  if (existing.length === 0 && absences.length === 1) return absences.map(({ reason }) => reason);
  const listed = existing.slice(0, MAX_NAMED);
  const hiddenCount = existing.length - listed.length;
  const deleted = absences.length - existing.length;
  return [
    ...listed,
    ...(hiddenCount > 0 ? [`${hiddenCount} more are listed in \`webhooks\`.`] : []),
    ...(deleted > 0
      ? [`${counted(deleted, 'deleted webhook')} ${deleted === 1 ? 'is' : 'are'} listed in \`webhooks\`.`]
      : []),
  ];
}
