/** The fields of a webhook that an e-shop writes, except its URL and secrets: one by one, with their texts. */
import * as v from 'valibot';
import { payloadVersions } from './decimal.ts';
import { type EventType, packingListEventTypes } from './event-types.ts';
import { described, strictComponent, text } from './fields.ts';
import { list } from './list.ts';
import { personalFields } from './personal-data.ts';
import { eventType } from './webhook-types.ts';

const MAX_DESCRIPTION_LENGTH = 1000;

export const webhookMethods = ['POST', 'GET'] as const;

/** Many times the number of types, since repetitions are harmless. Too high: a useless list costs time. */
const MAX_TYPES_SENT = 100;

/** The order of the deliveries of one record (docs/interface.md, D16). */
const orderings = ['none', 'record', 'latest'] as const;
export type Ordering = (typeof orderings)[number];

/** The fields that stay if a replacement leaves them out (docs/interface.md, W9). */
export interface Omissible {
  readonly additionalTypes: EventType[];
  readonly ordering: Ordering;
  readonly skipOwn: boolean;
  readonly asymmetric: boolean;
}
/** Their values in a new webhook. */
export const unset: Omissible = { additionalTypes: [], ordering: 'none', skipOwn: false, asymmetric: false };
/** All fields that stay if a replacement leaves them out. */
export const omissible = [...Object.keys(unset), 'headers'].sort();

const leftOut = (field: keyof Omissible) =>
  `Left out: \`${JSON.stringify(unset[field])}\` when a webhook is created; when it is replaced, as it was. Null: \`${JSON.stringify(unset[field])}\`.`;

export const additionalTypes = described(
  list(eventType, MAX_TYPES_SENT, 'event types'),
  'Further event types of the same webhook: it gets the events of its `webhookType` and of these, at one URL, signed with one secret. ' +
    `A repeat, and the \`webhookType\` itself, are dropped. ${leftOut('additionalTypes')}`,
);

export const method = described(
  v.picklist(webhookMethods, 'must be POST or GET'),
  'POST: the body contains the record, as its read endpoint returns it. GET: only the identifier of the record is appended to the URL.',
);

const names = (fields: readonly string[]) => fields.map((field) => `\`${field}\``).join(', ');

const parameterEntries = {
  withPackingLists: described(
    v.optional(v.boolean('must be true or false')),
    `Adds \`orderProducts[].packingLists\` to the order. Allowed only for ${packingListEventTypes.join(' and ')}: one of them must be among the types of the webhook, and only their deliveries have packing lists.`,
  ),
  withoutPersonalData: described(
    v.optional(v.boolean('must be true or false')),
    'Leaves the customer out of the payload: the fields that an erasure of personal data empties are null, and lists of it are empty. ' +
      `Of orders: ${names(personalFields.order)}. Of returns: ${names(personalFields.return)}. ` +
      'Only for POST webhooks with a type of orders or returns.',
  ),
  onStockChange: described(
    v.optional(v.boolean('must be true or false')),
    'Also calls the webhook when only the `stock` of a product changed, for whatever reason: a reservation, a release, a movement, a hold, ' +
      'a receiving. The event is an UPDATE_PRODUCT with `X-Service-Changed: stock` and a `sequence` of its own, one per product and write, with the stock after it. ' +
      'Allowed only if UPDATE_PRODUCT is among the types. Best with `ordering` `latest`.',
  ),
};
/** The names of the fields of `parameters`. */
export const parameterNames = v.keyof(v.object(parameterEntries)).options;
export const parameters = strictComponent('WebhookParameters', parameterEntries);

export const payloadVersion = described(
  v.picklist(payloadVersions, 'must be v2 or v21'),
  'The form of the POST payload: `v2` writes money and counts as decimal strings, `v21` as JSON numbers.',
);

export const ordering = described(
  v.picklist(orderings, 'must be none, record or latest'),
  'In which order the events of one record are delivered. `none`: as they come. `record`: one after the other, by `sequence`, at the ' +
    'receiver (scheme, host and port of `url`), across its webhooks and types; other records are not held up. `latest`: the same, but if a newer ' +
    'event of the record comes before a delivery is accepted, that delivery is not sent any more, and ends as `superseded`. Not for stock movements. ' +
    `Recoveries and redeliveries are not ordered: they bring old events after newer ones. ${leftOut('ordering')}`,
);

export const skipOwn = described(
  v.boolean('must be true or false'),
  'Leaves out changes by the e-shop itself (`origin` `shop`): their events create no delivery for this webhook. ' +
    'Changes to stock alone still come: movements, and updates of a product in which only `stock` changed. ' +
    leftOut('skipOwn'),
);

export const asymmetric = described(
  v.boolean('must be true or false'),
  'Whether `webhook-signature` also has a `v1a` for each signing key of the e-shop (`GET /eshop/signing-keys`): Ed25519, as Standard ' +
    'Webhooks define it. The public key cannot be used to forge signatures. ' +
    leftOut('asymmetric'),
);

export const description = described(
  text(MAX_DESCRIPTION_LENGTH),
  'A note for yourself. The console and messages name the webhook by its first line.',
);
