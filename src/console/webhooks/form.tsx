/** @jsxRuntime automatic @jsxImportSource hono/jsx */
/** The form that creates or changes a webhook; the API checks it. */
import { MASK } from '../../domain/static-headers.ts';
import type { WebhookInput, WebhookRecord } from '../../domain/webhook.ts';
import type { Viewer } from '../deps.ts';
import { Csrf, Page } from '../layout.tsx';
import { Check, headerLines, Input, Select, TextArea } from '../parts.tsx';
import { CONSOLE } from '../session.ts';
import { TypeBoxes, tickedFields, tickedTypes } from './type-boxes.tsx';

type Fields = Readonly<Record<string, string | undefined>>;

export const newFields: Fields = { method: 'POST', payloadVersion: 'v2', ordering: 'none', active: 'true' };

type Parameter = keyof NonNullable<WebhookInput['parameters']>;

/** The fields of the form that edits a webhook. `active` is not one: the form may be out of date when it is saved. */
export function fieldsOf({
  url,
  webhookType,
  additionalTypes,
  method,
  payloadVersion,
  ordering,
  asymmetric,
  description,
  parameters,
  headers,
  skipOwn,
}: WebhookRecord) {
  return {
    url,
    webhookType,
    method,
    payloadVersion,
    ordering,
    asymmetric: asymmetric ? 'true' : undefined,
    description: description ?? undefined,
    headers: headerLines(headers ?? {}),
    withPackingLists: parameters?.withPackingLists === true ? 'true' : undefined,
    withoutPersonalData: parameters?.withoutPersonalData === true ? 'true' : undefined,
    onStockChange: parameters?.onStockChange === true ? 'true' : undefined,
    skipOwn: skipOwn ? 'true' : undefined,
    ...tickedFields(additionalTypes),
  } satisfies Record<
    Exclude<keyof WebhookInput, 'active' | 'parameters' | 'additionalTypes'> | Parameter,
    string | undefined
  >;
}

/** The secret in the body at creation; left out if none was typed: then one is generated. */
export function ownSecretOf({ secret = '' }: Fields): object {
  return secret === '' ? {} : { secret };
}

/** One header per line. Without a colon it has no value, which the API refuses; a repeated name has its values joined (RFC 9110). */
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

/** The complete body: fields left out would be reset. */
export function inputOf(fields: Fields, active: boolean): object {
  const {
    url = '',
    webhookType,
    method,
    payloadVersion,
    ordering,
    asymmetric,
    description = '',
    headers = '',
    withPackingLists,
    withoutPersonalData,
    onStockChange,
    skipOwn,
  } = fields;
  const checked = Object.entries({ withPackingLists, withoutPersonalData, onStockChange } satisfies Record<
    Parameter,
    unknown
  >)
    .filter(([, value]) => value === 'true')
    .map(([name]) => [name, true]);
  return {
    url: url.trim(),
    webhookType,
    additionalTypes: tickedTypes(fields),
    method,
    payloadVersion,
    ordering,
    asymmetric: asymmetric === 'true',
    active,
    // Browsers send every line break as two characters.
    description: description === '' ? null : description.replaceAll('\r\n', '\n'),
    headers: headersOf(headers),
    parameters: checked.length === 0 ? null : Object.fromEntries(checked),
    skipOwn: skipOwn === 'true',
  } satisfies Record<keyof WebhookInput, unknown>;
}

/** For an e-shop that brings the secret its receiver already has. */
export function OwnSecret({ value }: { value?: string | undefined }) {
  return (
    <Input
      name="secret"
      label="Your own signing secret (optional)"
      value={value}
      hint="If empty, one is generated. 24 to 256 characters; whsec_ and base64 for libraries of Standard Webhooks."
    />
  );
}

/** @param id null for a new one */
export function WebhookForm(props: {
  viewer: Viewer;
  id: string | null;
  fields: Fields;
  refused?: string | undefined;
}) {
  const { viewer, id, fields, refused } = props;
  const title = id === null ? 'New webhook' : `Edit webhook ${id}`;
  const back = id === null ? `${CONSOLE}/webhooks` : `${CONSOLE}/webhooks/${id}`;
  return (
    <Page title={title} viewer={viewer} here="/webhooks" refused={refused}>
      <h1>{title}</h1>
      <form method="post" action={id === null ? back : `${back}/edit`} class="card form">
        <Csrf token={viewer.csrf} />
        <Input
          name="url"
          label="URL"
          value={fields.url}
          required
          placeholder="https://shop.example/hooks/orders"
          hint="The http or https URL of your receiver. With GET, the identifier of the record is appended to it."
        />
        <TypeBoxes fields={fields} />
        <div class="filters">
          <Select
            name="method"
            label="Method"
            value={fields.method}
            options={[
              ['POST', 'POST, with the record'],
              ['GET', 'GET, identifier only'],
            ]}
          />
          <Select
            name="payloadVersion"
            label="Payload version"
            value={fields.payloadVersion}
            options={[
              ['v21', 'v21: money and counts as numbers'],
              ['v2', 'v2: money and counts as strings'],
            ]}
          />
        </div>
        <Select
          name="ordering"
          label="Ordering"
          value={fields.ordering}
          options={[
            ['none', 'none: as they come'],
            ['record', 'record: one after the other'],
            ['latest', 'latest: only the newest'],
          ]}
          hint="With “record” and “latest”, the events of one record arrive in order; “latest” skips those that a newer one replaces."
        />
        <TextArea name="description" label="Description (optional)" value={fields.description} />
        <TextArea
          name="headers"
          label="Static headers (optional)"
          value={fields.headers}
          hint={`One per line, as in "X-Gateway-Key: …": added to every request, for a gateway in front of your receiver. ${MASK} keeps a stored value.`}
        />
        {id === null ? <OwnSecret value={fields.secret} /> : null}
        <fieldset>
          <legend>Options</legend>
          {id === null ? (
            <Check
              name="active"
              label="Active"
              hint="Deliveries start as soon as the webhook is saved."
              checked={fields.active === 'true'}
            />
          ) : null}
          <Check
            name="withPackingLists"
            label="Include packing lists"
            hint="Only for UPDATE_ORDER and UPDATE_ORDER_STATUS: adds which units are in which package."
            checked={fields.withPackingLists === 'true'}
          />
          <Check
            name="withoutPersonalData"
            label="Leave out personal data"
            hint="Only for POST, and types of orders and returns: names, addresses, contacts, notes and files are empty."
            checked={fields.withoutPersonalData === 'true'}
          />
          <Check
            name="onStockChange"
            label="Also when only the stock changes"
            hint="Only with UPDATE_PRODUCT: reservations, releases, movements, holds and receivings. Best with the ordering “latest”."
            checked={fields.onStockChange === 'true'}
          />
          <Check
            name="skipOwn"
            label="Leave out our own changes"
            hint="What users of the e-shop change, here or by the API, is not delivered; changes of stock are."
            checked={fields.skipOwn === 'true'}
          />
          <Check
            name="asymmetric"
            label="Sign with the key of the e-shop, too"
            hint="For receivers that verify with a public key (v1a of Standard Webhooks), which cannot sign."
            checked={fields.asymmetric === 'true'}
          />
        </fieldset>
        <div class="acts">
          <button type="submit" class="main">
            {id === null ? 'Create webhook' : 'Save changes'}
          </button>
          <a class="button" href={back}>
            Cancel
          </a>
        </div>
      </form>
    </Page>
  );
}
