/** The `webhooks` section of the OpenAPI document: each event type as receivers get it, from the catalogue. */
import { type CatalogueEntry, entryOf, sampleChangesOf, sampleOf } from '../../domain/catalogue.ts';
import { payloadVersions } from '../../domain/decimal.ts';
import {
  type EventType,
  eventTypeNames,
  eventTypes,
  packingListEventTypes,
} from '../../domain/event-types.ts';
import { origins } from '../../domain/origin.ts';
import { render } from '../../domain/render.ts';
import { maxAttempts, type RetryPolicy } from '../../domain/retry-policy.ts';
import { capital } from '../../domain/text.ts';
import { describeSchema } from '../json-schema.ts';

const uuid = { type: 'string', format: 'uuid' };

function header(name: string, description: string, schema: object = { type: 'string' }) {
  return { name, in: 'header', required: true, description, schema };
}

/** The header that names the changed fields; only updates have it. */
function changedHeader(type: EventType) {
  const example = sampleChangesOf(type);
  if (example === null) return [];
  const description =
    'The top-level fields that changed, in the order of the record, joined by commas; `*` if that is longer than 1 KiB.';
  return [header('X-Service-Changed', description, { type: 'string', examples: [example] })];
}

const headers = (type: EventType, policy: RetryPolicy) => [
  header('X-Service-Signature', 'See "How to verify a signature".', {
    type: 'string',
    examples: [
      't=1763667180,v1=5257a869e7ecebeda32affa62cdca3fa51cad7e77a0e56ff536d0ce8e108d8bd,v2=ce471850c08593e437fe19aa614b31721030575f3fddf4eaeeec6a5b64470723,v3=7d5bd2a2a2c9e3c7f4b1f0a8f1fb41a2d4c5d6ab5b9f7f6df1b1c5f0f5f7c1e9',
    ],
  }),
  header('X-Service-Event', 'The type of the event.', { type: 'string', const: type }),
  header(
    'X-Service-Event-Id',
    'The id of the event, the same at every webhook, in redeliveries and in recoveries.',
    uuid,
  ),
  header(
    'X-Service-Event-Time',
    'When the event happened, never earlier than the previous event of the record. Not signed.',
    { type: 'string', format: 'date-time' },
  ),
  header(
    'X-Service-Sequence',
    'Rises with every event of the record, whatever its type; gaps are normal. A redelivery keeps that of its event.',
    { type: 'integer', minimum: 1 },
  ),
  header(
    'X-Service-Origin',
    'Who made the change: a user of the e-shop, the warehouse (a user, or its import), or the service itself.',
    { type: 'string', enum: origins },
  ),
  ...changedHeader(type),
  header('X-Service-Webhook', 'The id of the webhook, by which its secret is found.', { type: 'integer' }),
  header('X-Service-Delivery', 'The id of the delivery, the same on every attempt.', uuid),
  header('X-Service-Attempt', 'The number of the attempt.', {
    type: 'integer',
    minimum: 1,
    maximum: maxAttempts(policy),
  }),
  header('webhook-id', 'The id of the delivery (Standard Webhooks).', uuid),
  header('webhook-timestamp', 'The time of the attempt, in Unix seconds (Standard Webhooks).', {
    type: 'integer',
  }),
  header('webhook-signature', 'See "How to verify a signature" (Standard Webhooks).'),
];

const responses = {
  '2XX': { description: 'Delivered.' },
  '410': { description: 'The webhook is deactivated immediately.' },
  '429': { description: 'Retried after `Retry-After`.' },
  '503': { description: 'Retried after `Retry-After`.' },
  default: { description: 'Retried.' },
};

function content(entry: CatalogueEntry, type: EventType) {
  const withPackingLists = packingListEventTypes.includes(type);
  const described = payloadVersions.map((version) => describeSchema(entry.recordSchema(version), 'output'));
  const examples = payloadVersions.map((version) => {
    const value: unknown = JSON.parse(render(sampleOf(type), { version, withPackingLists }));
    return [version, { summary: `payloadVersion ${version}`, value }] as const;
  });
  return {
    media: {
      'application/json': {
        schema: { anyOf: described.map(({ schema }) => schema) },
        examples: Object.fromEntries(examples),
      },
    },
    components: Object.assign({}, ...described.map(({ components }) => components)),
  };
}

/** `onCreateOrderPost` for CREATE_ORDER. */
function operationId(type: EventType, method: 'Post' | 'Get'): string {
  return `on${type.toLowerCase().split('_').map(capital).join('')}${method}`;
}

/** @param policy the retry policy in force here */
export function describeWebhooks(policy: RetryPolicy) {
  const components: Record<string, object> = {};
  const webhooks: Record<string, object> = {};
  for (const type of eventTypeNames) {
    const entry = entryOf(type);
    const summary = `When ${eventTypes[type].firesWhen}`;
    const common = { tags: ['Events'], parameters: headers(type, policy), responses, security: [] };
    const payload = content(entry, type);
    Object.assign(components, payload.components);
    webhooks[type] = {
      post: {
        ...common,
        operationId: operationId(type, 'Post'),
        summary,
        description:
          'What a webhook with the method POST receives, in the form of its `payloadVersion` (`v2` or `v21`).',
        requestBody: { required: true, content: payload.media },
      },
      get: {
        ...common,
        operationId: operationId(type, 'Get'),
        summary,
        description: `What a webhook with the method GET receives: no body, and the percent-encoded \`${entry.idField}\` at the end of the URL.`,
      },
    };
  }
  return { webhooks, components };
}
