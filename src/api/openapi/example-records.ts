/**
 * The records of the examples, by the names of their schemas: the samples of the catalogue, and records about
 * deliveries.
 */
import { catalogue, sampleOf } from '../../domain/catalogue.ts';
import { payloadVersions } from '../../domain/decimal.ts';
import { render, renderValue } from '../../domain/render.ts';
import { shippedCatalogue } from '../../domain/shipper-services.ts';
import { capital } from '../../domain/text.ts';

/** The same identifiers in all examples, by the parts of paths before them. */
export const ids = {
  webhooks: 7,
  events: '019e9f34-8b1e-7c30-9c1b-3f0a2d6c5e01',
  deliveries: '019e9f34-8b2a-7f41-8d52-6b9e1c7a4d02',
  recoveries: '019ea4b1-02c7-7a10-b6e3-52d0f8c19a03',
  orders: '2026-10001',
  products: 'TEA-GREEN-100',
  receivings: '2026-IN-42',
  returns: '2026-R-17',
  'stock-movements': 4711,
} as const;

export const SECRET = 'whsec_3q2+7w5VqTn0cXo1m8yRkZl4uJd9sHf6bGa2pEi0tMw=';
const payload = render(sampleOf('UPDATE_ORDER_STATUS'), { version: 'v21', withPackingLists: false });

export const webhook = {
  id: ids.webhooks,
  url: 'https://shop.example/hooks/orders',
  webhookType: 'UPDATE_ORDER_STATUS',
  additionalTypes: ['UPDATE_ORDER'],
  active: true,
  method: 'POST',
  parameters: null,
  payloadVersion: 'v21',
  description: 'Tells customers where their order is',
  headers: null,
  ordering: 'none',
  skipOwn: false,
  asymmetric: false,
  registeredAt: '2026-11-01T09:00:00.000Z',
  unregisteredAt: null,
  lastDeactivation: null,
  incident: null,
  pausedUntil: null,
} as const;

const statusChange = { origin: 'warehouse', changed: 'status,statusHistory' } as const;

const delivery = {
  id: ids.deliveries,
  webhookId: ids.webhooks,
  eventId: ids.events,
  webhookType: 'UPDATE_ORDER_STATUS',
  entityId: ids.orders,
  sequence: 4,
  ...statusChange,
  state: 'retrying',
  attemptsMade: 1,
  createdAt: '2026-11-20T10:42:07.310Z',
  lastAttemptAt: '2026-11-20T10:42:07.614Z',
  lastStatus: 503,
  lastError: 'HTTP 503 from shop.example after 212 ms',
  nextAttemptAt: '2026-11-20T10:42:31.614Z',
  finishedAt: null,
  canceledBy: null,
  supersededBy: null,
  waitsFor: null,
  heldBy: null,
};

const deliveryWithAttempts = {
  ...delivery,
  operatorActions: [],
  attempts: [
    {
      number: 1,
      startedAt: '2026-11-20T10:42:07.402Z',
      durationMs: 212,
      outcome: 'failure',
      status: 503,
      error: delivery.lastError,
      responseExcerpt: 'Service Unavailable',
      nextAttemptAt: delivery.nextAttemptAt,
    },
  ],
};

const event = {
  id: ids.events,
  webhookType: 'UPDATE_ORDER_STATUS',
  entityId: ids.orders,
  sequence: 4,
  ...statusChange,
  createdAt: '2026-11-20T10:42:07.310Z',
  test: false,
  webhooks: [
    {
      webhookId: ids.webhooks,
      deliveryId: ids.deliveries,
      state: delivery.state,
      attemptsMade: delivery.attemptsMade,
      lastError: delivery.lastError,
      cause: null,
      reason: null,
    },
  ],
  cause: null,
  reason: null,
};

const recovered = {
  webhookId: ids.webhooks,
  since: '2026-11-20T18:00:00.000Z',
  until: '2026-11-21T06:00:00.000Z',
  include: ['failed', 'expired', 'missed'],
  count: 1840,
  first: '2026-11-20T18:02:11.090Z',
  last: '2026-11-21T05:58:40.737Z',
};

const records = Object.values(catalogue).flatMap(({ kind, sample }) =>
  payloadVersions.map((version) => [
    `${capital(kind)}${version === 'v2' ? 'V2' : ''}`,
    renderValue(sample, { version, withPackingLists: false }),
  ]),
);

export const exampleRecords: Readonly<Record<string, unknown>> = {
  ...Object.fromEntries(records),
  Login: {
    token: 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl',
    tokenType: 'Bearer',
    expiresIn: 3600,
    expiresAt: '2026-11-20T11:42:07.000Z',
    user: { id: 1, username: 'shop', role: 'shop' },
  },
  Webhook: webhook,
  ActivatedWebhook: { ...webhook, missed: { since: '2026-11-20T18:02:11.480Z', count: 12 } },
  WebhookWithSecret: { ...webhook, secret: SECRET },
  TestResult: {
    request: {
      method: 'POST',
      url: webhook.url,
      headers: {
        'content-type': 'application/json',
        'x-service-event': webhook.webhookType,
        'x-service-webhook': String(webhook.id),
        'x-service-delivery': ids.deliveries,
        'x-service-test': 'true',
        'x-service-signature':
          't=1763635327,v1=5257a869e7ecebeda32affa62cdca3fa51cad7e77a0e56ff536d0ce8e108d8bd,v2=ce471850c08593e437fe19aa614b31721030575f3fddf4eaeeec6a5b64470723,v3=7d5bd2a2a2c9e3c7f4b1f0a8f1fb41a2d4c5d6ab5b9f7f6df1b1c5f0f5f7c1e9',
      },
      body: `${payload.slice(0, 60)}…`,
    },
    response: { status: 200, headers: { 'content-type': 'text/plain' }, excerpt: 'ok' },
    durationMs: 84,
    outcome: 'success',
    error: null,
  },
  Examination: {
    rows: [
      {
        name: 'valid request',
        sent: 'a POST with a sample, correctly signed',
        received: '200, new',
        verdict: 'ok',
        remedy: null,
      },
      {
        name: 'old timestamp',
        sent: 'a valid request of 2026-11-20T10:36:07.000Z, six minutes old',
        received: '200, new',
        verdict: 'fail',
        remedy: 'Refuse a t that is more than 300 seconds off by your clock.',
      },
    ],
    answerMs: 84,
    complete: true,
  },
  RecoverAnswer: { recoveryId: ids.recoveries, ...recovered, estimatedDurationMs: 21_400 },
  Recovery: {
    recoveryId: ids.recoveries,
    ...recovered,
    state: 'running',
    reason: null,
    done: 1212,
    failed: 3,
    superseded: 0,
    left: 625,
    createdAt: '2026-11-21T06:10:00.000Z',
    estimatedEndAt: '2026-11-21T06:10:21.400Z',
    finishedAt: null,
  },
  Delivery: delivery,
  DeliveryWithAttempts: deliveryWithAttempts,
  PayloadRequest: { method: 'POST', url: webhook.url, contentType: 'application/json' },
  Event: event,
  EventWithRecord: { ...event, record: JSON.parse(payload) },
  Eshop: {
    id: 1,
    name: 'Tea shop',
    email: 'dev@shop.example',
    notifications: {
      warning: true,
      recovered: true,
      emails: [{ address: 'on-call@shop.example', confirmedAt: '2026-11-20T19:33:00.000Z' }],
      url: 'https://hooks.slack.example/services/T0/B0/x',
      format: 'text',
    },
    deliveriesFrom: { addresses: ['203.0.113.0/28'], userAgent: 'Waybill/1.0.0' },
  },
  SigningKey: {
    kid: 'kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k',
    publicKey: 'whpk_11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=',
    jwk: {
      kty: 'OKP',
      crv: 'Ed25519',
      x: '11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo',
      use: 'sig',
      alg: 'EdDSA',
      kid: 'kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k',
    },
    createdAt: '2026-11-01T09:00:00.000Z',
    signsUntil: null,
  },
  Pagination: { page: 1, items: 30, totalCount: 1, totalPages: 1 },
};

export const exampleCarriers = shippedCatalogue
  .slice(0, 2)
  .map((shipper) => ({ ...shipper, services: shipper.services.slice(0, 2) }));

export const examplePayload: unknown = JSON.parse(payload);
