/** The fields of a webhook's form, and the body of the API that they become. */
import { headerLines } from '../../domain/text.ts';
import type { WebhookInput, WebhookRecord } from '../../domain/webhook.ts';
import { parameterNames } from '../../domain/webhook-fields.ts';
import type { Query } from '../api-client.ts';
import { tickedFields, tickedTypes } from './type-boxes.tsx';

export const newFields: Query = { method: 'POST', payloadVersion: 'v21', ordering: 'none', active: 'true' };

const boxed = (ticked: boolean | undefined) => (ticked === true ? 'true' : undefined);

/** The fields of the form that edits a webhook. `active` is not one: the form may be out of date when it is saved. */
export function fieldsOf(webhook: WebhookRecord) {
  const { url, webhookType, method, payloadVersion, ordering, description, parameters, headers } = webhook;
  return {
    url,
    webhookType,
    method,
    payloadVersion,
    ordering,
    description: description ?? undefined,
    headers: headerLines(headers ?? {}),
    asymmetric: boxed(webhook.asymmetric),
    skipOwn: boxed(webhook.skipOwn),
    ...Object.fromEntries(parameterNames.map((name) => [name, boxed(parameters?.[name])])),
    ...tickedFields(webhook.additionalTypes),
  } satisfies Record<
    Exclude<keyof WebhookInput, 'active' | 'parameters' | 'additionalTypes'>,
    string | undefined
  >;
}

/** The secret in the body at creation; left out if none was typed: then one is generated. */
export function ownSecretOf({ secret = '' }: Query): object {
  return secret === '' ? {} : { secret };
}

/** One header per line. Without a colon it has no value, and is refused; repeated ones are joined (RFC 9110). */
function headersOf(text: string): Record<string, string | null> {
  const headers = new Map<string, string | null>();
  for (const line of text.split(/\r?\n/)) {
    if (line.trim() === '') continue;
    const colon = line.indexOf(':');
    const name = (colon < 0 ? line : line.slice(0, colon)).trim();
    const value = colon < 0 ? null : line.slice(colon + 1).trim();
    const before = headers.get(name);
    headers.set(name, typeof before === 'string' && value !== null ? `${before}, ${value}` : value);
  }
  return Object.fromEntries(headers);
}

/** The complete body: unticked and empty fields are sent as such, so that no stored value stays. */
export function inputOf(fields: Query, active: boolean): object {
  const { url = '', webhookType, method, payloadVersion, ordering, description = '', headers = '' } = fields;
  const chosen = parameterNames.filter((name) => fields[name] === 'true').map((name) => [name, true]);
  return {
    url: url.trim(),
    webhookType,
    additionalTypes: tickedTypes(fields),
    method,
    payloadVersion,
    ordering,
    asymmetric: fields.asymmetric === 'true',
    active,
    // Browsers send every line break as two characters.
    description: description === '' ? null : description.replaceAll('\r\n', '\n'),
    headers: headersOf(headers),
    parameters: chosen.length === 0 ? null : Object.fromEntries(chosen),
    skipOwn: fields.skipOwn === 'true',
  } satisfies Record<keyof WebhookInput, unknown>;
}
