/** The schemas of a webhook (docs/interface.md, W1): the body that creates or replaces it, and the record. */
import * as v from 'valibot';
import { payloadVersions } from './decimal.ts';
import { type EventType, packingListEventTypes } from './event-types.ts';
import { described, isLonger, recordNumber, text, time } from './fields.ts';
import { incidentSchema } from './incident.ts';
import { list } from './list.ts';
import { personalFields } from './personal-data.ts';
import type { FieldProblem } from './problem.ts';
import { maskedHeadersField, newHeadersField, replacedHeadersField } from './static-headers.ts';
import { answeredSecret, ownSecretField } from './webhook-secret.ts';
import { eventType, typeRules, typesIn } from './webhook-types.ts';

const MAX_URL_LENGTH = 2048;
const MAX_DESCRIPTION_LENGTH = 1000;

/** The methods of a delivery. */
export const webhookMethods = ['POST', 'GET'] as const;

/** The problem of a URL to be called, or null. */
export function urlProblem(url: string): string | null {
  if (isLonger(url, MAX_URL_LENGTH)) return `must have at most ${MAX_URL_LENGTH} characters`;
  // The parser is lenient (it trims, drops line ends and corrects slashes), but the stored URL is used unchanged.
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is refused
  if (/[\s\\\u0000-\u001f\u007f]/u.test(url))
    return 'must not contain spaces, control characters or backslashes';
  const authority = /^https?:\/\/([^/?#]+)/i.exec(url)?.[1];
  if (authority === undefined || !URL.canParse(url)) return 'must be an absolute http: or https: URL';
  if (authority.includes('@')) return 'must not contain a user name or password';
  if (url.includes('#')) return 'must not contain a fragment';
  if (new URL(url).port === '0') return 'must not have the port 0';
  // The URL shown would differ from the one called, or be understood differently by different servers.
  if (/\/(?:\.|%2e){1,2}(?:[/?]|$)/i.test(url.replace(/\?.*/s, '')))
    return 'must not contain . or .. as a part of its path';
  if (/%(?![\da-f]{2})/i.test(url)) return 'must not contain a % without two hexadecimal digits after it';
  return null;
}

/** A URL to be called, as the OpenAPI document describes it. */
export function urlInDocument(description: string, example: string) {
  const length = { minLength: 1, maxLength: MAX_URL_LENGTH };
  return {
    jsonSchema: { type: 'string', format: 'uri', ...length, description, examples: [example] },
  } as const;
}

const url = v.pipe(
  v.string('must be a string'),
  v.minLength(1, 'must not be empty'),
  v.rawCheck(({ dataset, addIssue }) => {
    if (!dataset.typed || dataset.value === '') return;
    const message = urlProblem(dataset.value);
    if (message !== null) addIssue({ message });
  }),
  v.metadata(
    urlInDocument(
      'An absolute `http:` or `https:` URL without user name, password or fragment, and with a path as it is called: no part of it is `.` or `..`, ' +
        'every `%` begins an encoded character. The port is not 0. On GET webhooks the ' +
        'percent-encoded (all but RFC 3986 unreserved) identifier of the record is appended literally to the end of the string: ' +
        'end it with `/` or `?order=` as you need. Private, loopback, link-local, multicast, metadata and other special-purpose ' +
        'destinations are refused when connecting, on every attempt; an address of that kind in the URL itself, or a port of ' +
        'this service, is rejected here (400).',
      'https://shop.example/hooks/orders',
    ),
  ),
);

/** Many times the types that there are, since a repeat is harmless. More: a useless list costs time. */
const MAX_TYPES_SENT = 100;

/** The order of the deliveries of one record (docs/interface.md, D16). */
const orderings = ['none', 'record', 'latest'] as const;
export type Ordering = (typeof orderings)[number];

/** The fields that stay if a replacement leaves them out (docs/interface.md, W9). */
interface Omissible {
  readonly additionalTypes: EventType[];
  readonly ordering: Ordering;
  readonly skipOwn: boolean;
  readonly asymmetric: boolean;
}
/** As they are in a new webhook. */
const unset: Omissible = { additionalTypes: [], ordering: 'none', skipOwn: false, asymmetric: false };
/** All fields that stay if a replacement leaves them out. */
export const omissible = [...Object.keys(unset), 'headers'].sort();

const leftOut = (field: keyof Omissible) =>
  `Left out: \`${JSON.stringify(unset[field])}\` when a webhook is created; when it is replaced, as it was. Null: \`${JSON.stringify(unset[field])}\`.`;

const additionalTypes = described(
  list(eventType, MAX_TYPES_SENT, 'event types'),
  'Further event types of the same webhook: it gets the events of its `webhookType` and of these, at one URL, signed with one secret. ' +
    `A repeat, and the \`webhookType\` itself, are dropped. ${leftOut('additionalTypes')}`,
);

const method = described(
  v.picklist(webhookMethods, 'must be POST or GET'),
  'POST: the body contains the record, as its read endpoint returns it. GET: only the identifier of the record is appended to the URL.',
);

const names = (fields: readonly string[]) => fields.map((field) => `\`${field}\``).join(', ');

const parameters = v.pipe(
  v.strictObject({
    withPackingLists: v.optional(
      described(
        v.boolean('must be true or false'),
        `Adds \`orderProducts[].packingLists\` to the order. Allowed only for ${packingListEventTypes.join(' and ')}: one of them must be among the types of the webhook, and only their deliveries have packing lists.`,
      ),
    ),
    withoutPersonalData: v.optional(
      described(
        v.boolean('must be true or false'),
        'Leaves the customer out of the payload: what an erasure of personal data empties is null, and a list of it is empty. ' +
          `Of orders: ${names(personalFields.order)}. Of returns: ${names(personalFields.return)}. ` +
          'Only for POST webhooks with a type of orders or returns.',
      ),
    ),
    onStockChange: v.optional(
      described(
        v.boolean('must be true or false'),
        'Calls the webhook also when nothing but the `stock` of a product changed, for whatever reason: a reservation, a release, a movement, a hold, ' +
          'a receiving. The event is an UPDATE_PRODUCT with `X-Service-Changed: stock` and a `sequence` of its own, one per product and write, with the stock after it. ' +
          'Only where UPDATE_PRODUCT is among the types. Meant for `ordering` `latest`.',
      ),
    ),
  }),
  v.metadata({ ref: 'WebhookParameters' }),
);

const payloadVersion = described(
  v.picklist(payloadVersions, 'must be v2 or v21'),
  'The form of the POST payload: `v2` writes money and counts as decimal strings, `v21` as JSON numbers.',
);

const ordering = described(
  v.picklist(orderings, 'must be none, record or latest'),
  'In which order the events of one record are delivered. `none`: as they come. `record`: one after the other, by `sequence`, at the ' +
    'receiver (scheme, host and port of `url`), across its webhooks and types; other records are not held up. `latest`: the same, and what a newer ' +
    'event of the record has replaced before it was accepted is not sent any more: it ends as `superseded`. Not for stock movements. ' +
    `Recoveries and redeliveries stand outside: they bring old events after newer ones. ${leftOut('ordering')}`,
);

const skipOwn = described(
  v.boolean('must be true or false'),
  'Leaves out changes by the e-shop itself (`origin` `shop`): their events create no delivery for this webhook. ' +
    'Those about stock alone come all the same: movements, and updates of a product in which only `stock` changed. ' +
    leftOut('skipOwn'),
);

const asymmetric = described(
  v.boolean('must be true or false'),
  'Whether `webhook-signature` also has a `v1a` for each signing key of the e-shop (`GET /eshop/signing-keys`): Ed25519, as Standard ' +
    'Webhooks define it. The public key cannot be used to forge signatures. ' +
    leftOut('asymmetric'),
);

const description = described(
  text(MAX_DESCRIPTION_LENGTH),
  'A note for yourself. The console and messages name the webhook by its first line.',
);

const inputEntries = {
  url,
  webhookType: eventType,
  additionalTypes: v.nullish(additionalTypes),
  active: described(v.boolean('must be true or false'), 'Whether the webhook delivers.'),
  method,
  parameters: v.nullish(parameters, null),
  payloadVersion: v.nullish(payloadVersion, 'v2'),
  description: v.nullish(description, null),
  ordering: v.nullish(ordering),
  skipOwn: v.nullish(skipOwn),
  asymmetric: v.nullish(asymmetric),
};

/**
 * The fields that an e-shop writes, except its secrets: each is a column of `webhooks` of the same name in snake
 * case.
 */
export const webhookFields = v.keyof(v.object(inputEntries)).options;

/** The fields that determine the request: also columns of `former_request_settings`. */
export const requestFields = ['url', 'method', 'payloadVersion', 'parameters'] as const;

/** The body of a replacement. @param stored the webhook's additional types, which stay if the body leaves them out */
export function replacementSchema(stored: readonly EventType[]) {
  const { packingLists, personalData, onStockChange, noLatest } = typeRules(stored);
  return v.pipe(
    v.strictObject({ ...inputEntries, headers: replacedHeadersField }),
    v.metadata({ ref: 'WebhookInput' }),
    v.forward(
      v.partialCheck(packingLists.fields, packingLists.allowed, packingLists.message),
      packingLists.at,
    ),
    v.forward(
      v.partialCheck(personalData.fields, personalData.allowed, personalData.message),
      personalData.at,
    ),
    v.forward(
      v.partialCheck(onStockChange.fields, onStockChange.allowed, onStockChange.message),
      onStockChange.at,
    ),
    v.forward(v.partialCheck(noLatest.fields, noLatest.allowed, noLatest.message), noLatest.at),
  );
}
export const webhookInputSchema = replacementSchema([]);
/** A checked body with its defaults filled in, except for what a replacement without it leaves as it was. */
export type WebhookInput = v.InferOutput<typeof webhookInputSchema>;

const { packingLists, personalData, onStockChange, noLatest } = typeRules([]);
/** The body of a creation, which may contain a secret. */
export const webhookCreationSchema = v.pipe(
  v.strictObject({ ...inputEntries, headers: newHeadersField, secret: ownSecretField }),
  v.metadata({ ref: 'WebhookCreation' }),
  v.forward(v.partialCheck(packingLists.fields, packingLists.allowed, packingLists.message), packingLists.at),
  v.forward(v.partialCheck(personalData.fields, personalData.allowed, personalData.message), personalData.at),
  v.forward(
    v.partialCheck(onStockChange.fields, onStockChange.allowed, onStockChange.message),
    onStockChange.at,
  ),
  v.forward(v.partialCheck(noLatest.fields, noLatest.allowed, noLatest.message), noLatest.at),
);

/** Settings that the types do not allow: the rules of the schemas, for what a replacement leaves as it was. */
export function typeProblems(settings: WebhookSettings): FieldProblem[] {
  return [packingLists, personalData, onStockChange, noLatest].flatMap(({ allowed, message, at }) =>
    allowed(settings) ? [] : [{ path: at.join('.'), message }],
  );
}

/** The body of `regenerate-secret`, which may be left out. */
export const newSecretSchema = v.pipe(
  v.strictObject({ secret: ownSecretField }),
  v.metadata({ ref: 'NewSecret' }),
);

/** Fields of the record alone: ignored in a request, so that a record can be sent back as read. */
export const webhookResponseOnly = [
  'id',
  'registeredAt',
  'unregisteredAt',
  'lastDeactivation',
  'incident',
  'pausedUntil',
  'missed',
] as const;

export const deactivationReasons = ['user', 'retriesExhausted', 'gone'] as const;
export type DeactivationReason = (typeof deactivationReasons)[number];

const recordEntries = {
  id: recordNumber(),
  url,
  webhookType: eventType,
  additionalTypes,
  active: v.boolean(),
  method,
  parameters: v.nullable(parameters),
  payloadVersion,
  description: v.nullable(description),
  headers: maskedHeadersField,
  ordering,
  skipOwn,
  asymmetric,
  registeredAt: described(time(), 'Time of creation.'),
  unregisteredAt: described(
    v.nullable(time()),
    'Null while active; otherwise the time at which the webhook last became inactive, for whatever reason. A webhook created ' +
      'inactive has null until its first deactivation.',
  ),
  lastDeactivation: v.nullable(
    v.pipe(
      v.object({
        at: time(),
        reason: described(
          v.picklist(deactivationReasons),
          '`user`: through this interface, or by the operator of the warehouse. `retriesExhausted`: all retries of a delivery failed. `gone`: the receiver responded with 410.',
        ),
        deliveryId: described(v.nullable(v.string()), 'The delivery whose failure caused it.'),
        lastError: v.nullable(v.string()),
      }),
      v.metadata({ ref: 'Deactivation' }),
    ),
  ),
  incident: described(
    v.nullable(incidentSchema),
    'While deliveries to an active webhook fail; null otherwise. Any accepted delivery ends it.',
  ),
  pausedUntil: described(
    v.nullable(time()),
    'When its pause ends; null if it is not paused. Ignored in a request: `pause` and `resume` change it.',
  ),
};

export const webhookRecordSchema = v.pipe(v.object(recordEntries), v.metadata({ ref: 'Webhook' }));
export type WebhookRecord = v.InferOutput<typeof webhookRecordSchema>;
/** The fields that an e-shop writes, with the defaults filled in. */
export type WebhookSettings = Pick<WebhookRecord, (typeof webhookFields)[number]>;

/** As in a body, where they may be null too. */
type Sent = { readonly [Field in keyof Omissible]?: Omissible[Field] | null | undefined };
export type GivenSettings = Omit<WebhookSettings, keyof Omissible> & Sent;

/** The whole settings: what is null has its default. @param before what is left out has */
export function settled(given: GivenSettings, before = unset): WebhookSettings {
  const sent: Sent = given;
  const after = <Field extends keyof Omissible>(field: Field): Omissible[Field] =>
    sent[field] === undefined ? before[field] : (sent[field] ?? unset[field]);
  const [, ...additionalTypes] = typesIn(given, before.additionalTypes);
  return {
    ...given,
    additionalTypes,
    ordering: after('ordering'),
    skipOwn: after('skipOwn'),
    asymmetric: after('asymmetric'),
  };
}

export type RequestSettings = Pick<WebhookRecord, (typeof requestFields)[number]>;

export function settingsOf(webhook: WebhookSettings): WebhookSettings {
  return Object.assign({}, ...webhookFields.map((field) => ({ [field]: webhook[field] })));
}

/** The record with its secret: only in the responses to creation and regeneration. */
export const webhookWithSecretSchema = v.pipe(
  v.object({
    ...recordEntries,
    secret: answeredSecret,
  }),
  v.metadata({ ref: 'WebhookWithSecret' }),
);
