/** The form that creates or changes a webhook; the API checks it. */
import { MASK } from '../../domain/static-headers.ts';
import { type WebhookRecord, webhookFields } from '../../domain/webhook.ts';
import { parameterNames } from '../../domain/webhook-fields.ts';
import { nameOf } from '../../domain/webhook-name.ts';
import type { Query, Rejection } from '../api-client.ts';
import { Check, Input, Select, TextArea } from '../form-fields.tsx';
import { Form, Page } from '../layout.tsx';
import { CONSOLE } from '../session.ts';
import { TypeBoxes } from './type-boxes.tsx';

/** Where the API names each field. */
const PATHS = [
  ...webhookFields.filter((name) => name !== 'parameters'),
  ...parameterNames.map((name) => `parameters.${name}`),
  'headers',
  'secret',
];

/** In this form, a header without a value is a line without a colon. */
function inForm(refused: Rejection | undefined): Rejection | undefined {
  if (refused === undefined || typeof refused === 'string') return refused;
  return refused.map(({ path, message }) => {
    const isLine = path.startsWith('headers.') && message === 'must be a string';
    return { path, message: isLine ? 'has no colon: a header is a name, a colon and a value' : message };
  });
}

/** For an e-shop whose receiver already has a secret. */
export function OwnSecret() {
  return (
    <Input
      name="secret"
      label="Your own signing secret (optional)"
      hint="If empty, one is generated. 24 to 256 characters; whsec_ and base64 for libraries of Standard Webhooks."
    />
  );
}

/** @param webhook as stored; left out for a new one */
export function WebhookForm(props: { webhook?: WebhookRecord; fields: Query; refused?: Rejection }) {
  const { webhook, fields } = props;
  const isNew = webhook === undefined;
  const refused = inForm(props.refused);
  const title = isNew ? 'New webhook' : `Edit ${nameOf(webhook)}`;
  const back = isNew ? '/webhooks' : `/webhooks/${webhook.id}`;
  return (
    <Page title={title} here="/webhooks" refused={refused} fields={PATHS}>
      <h1>{title}</h1>
      <Form action={isNew ? back : `${back}/edit`} values={fields} class="card form">
        <Input
          name="url"
          label="URL"
          required
          placeholder="https://shop.example/hooks/orders"
          hint="The http or https URL of your receiver. With GET, the identifier of the record is appended to it."
        />
        <TypeBoxes fields={fields} />
        <div class="filters">
          <Select
            name="method"
            label="Method"
            options={Object.entries({ POST: 'POST, with the record', GET: 'GET, identifier only' })}
          />
          <Select
            name="payloadVersion"
            label="Payload version"
            options={[
              ['v21', 'v21: money and counts as numbers'],
              ['v2', 'v2: money and counts as strings'],
            ]}
            hint="v2 is for receivers that were written for it."
          />
        </div>
        <Select
          name="ordering"
          label="Ordering"
          options={[
            ['none', 'none: any order'],
            ['record', 'record: one after the other'],
            ['latest', 'latest: only the newest'],
          ]}
          hint="With “record” and “latest”, the events of one record arrive in order; “latest” skips those that a newer one replaces."
        />
        <TextArea name="description" label="Description (optional)" />
        <TextArea
          name="headers"
          label="Static headers (optional)"
          hint={`One per line, as in "X-Gateway-Key: …": added to every request, for a gateway in front of your receiver. ${MASK} keeps a stored value.`}
        />
        {isNew ? <OwnSecret /> : null}
        <fieldset>
          <legend>Options</legend>
          {isNew ? (
            <Check name="active" label="Active" hint="Deliveries start as soon as the webhook is saved." />
          ) : null}
          <Check
            name="withPackingLists"
            label="Include packing lists"
            hint="Only for UPDATE_ORDER and UPDATE_ORDER_STATUS: adds which units are in which package."
          />
          <Check
            name="withoutPersonalData"
            label="Leave out personal data"
            hint="Only for POST, and types of orders and returns: names, addresses, contacts, notes and files are empty."
          />
          <Check
            name="onStockChange"
            label="Also when only the stock changes"
            hint="Only with UPDATE_PRODUCT: reservations, releases, movements, holds and receivings. Best with the ordering “latest”."
          />
          <Check
            name="skipOwn"
            label="Leave out our own changes"
            hint="Changes by users of the e-shop, here or through the API, are not delivered; changes to stock are."
          />
          <Check
            name="asymmetric"
            label="Also sign with the key of the e-shop"
            hint="For receivers that verify with a public key (v1a of Standard Webhooks), which cannot sign."
          />
        </fieldset>
        <div class="actions">
          <button type="submit" class="main">
            {isNew ? 'Create webhook' : 'Save changes'}
          </button>
          <a class="button" href={`${CONSOLE}${back}`}>
            Cancel
          </a>
        </div>
      </Form>
    </Page>
  );
}
