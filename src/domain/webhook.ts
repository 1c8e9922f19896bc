/** The schemas of a webhook (docs/interface.md, W1): the body that creates or replaces it, and the record. */
import * as v from 'valibot';
import { component, described, recordNumber, strictComponent, time } from './fields.ts';
import { incidentSchema } from './incident.ts';
import { maskedHeadersField, staticHeaders } from './static-headers.ts';
import {
  additionalTypes,
  asymmetric,
  description,
  method,
  type Omissible,
  ordering,
  parameters,
  payloadVersion,
  skipOwn,
  unset,
} from './webhook-fields.ts';
import { answeredSecret, ownSecretField } from './webhook-secret.ts';
import { eventType, typesIn } from './webhook-types.ts';
import { webhookUrl as url } from './webhook-url.ts';

const inputEntries = {
  url,
  webhookType: eventType,
  additionalTypes: v.nullish(additionalTypes),
  active: described(v.boolean('must be true or false'), 'Whether the webhook delivers.'),
  method,
  parameters: v.nullish(parameters, null),
  payloadVersion: v.optional(payloadVersion, 'v2'),
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

/** The body of a replacement; `typeRules` are checked beside it. */
export const webhookInputSchema = strictComponent('WebhookInput', {
  ...inputEntries,
  headers: v.nullish(staticHeaders(true)),
});
/** A checked body with its defaults, except for fields that a replacement without them keeps. */
export type WebhookInput = v.InferOutput<typeof webhookInputSchema>;

/** The body of a creation, which may contain a secret; `typeRules` are checked beside it. */
export const webhookCreationSchema = strictComponent('WebhookCreation', {
  ...inputEntries,
  headers: v.nullish(staticHeaders(false)),
  secret: ownSecretField,
});

/** The body of `regenerate-secret`, which may be left out. */
export const newSecretSchema = strictComponent('NewSecret', { secret: ownSecretField });

const deactivationReasons = ['user', 'retriesExhausted', 'gone'] as const;
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
    component('Deactivation', {
      at: time(),
      reason: described(
        v.picklist(deactivationReasons),
        '`user`: through this interface, or by the operator of the warehouse. `retriesExhausted`: all retries of a delivery failed. `gone`: the receiver responded with 410.',
      ),
      deliveryId: described(v.nullable(v.string()), 'The delivery whose failure caused it.'),
      lastError: v.nullable(v.string()),
    }),
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

/** Fields of the record alone: ignored in a request, so that a record can be sent back as read. */
export const webhookResponseOnly: readonly string[] = [
  ...Object.keys(recordEntries).filter((name) => !(name in inputEntries) && name !== 'headers'),
  'missed',
];

export const webhookRecordSchema = component('Webhook', recordEntries);
export type WebhookRecord = v.InferOutput<typeof webhookRecordSchema>;
/** The fields that an e-shop writes, with the defaults filled in. */
export type WebhookSettings = Pick<WebhookRecord, (typeof webhookFields)[number]>;

/** As in a body, where they may be null too. */
type Sent = { readonly [Field in keyof Omissible]?: Omissible[Field] | null | undefined };
export type GivenSettings = Omit<WebhookSettings, keyof Omissible> & Sent;

/** The complete settings: null means the default. @param before the values of fields left out */
export function withDefaults(given: GivenSettings, before = unset): WebhookSettings {
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
export const webhookWithSecretSchema = component('WebhookWithSecret', {
  ...recordEntries,
  secret: answeredSecret,
});
