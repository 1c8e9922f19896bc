/**
 * Receivers in the responses of other systems. Written from their public API documents: Svix's `EndpointOut`,
 * `EndpointSecretOut` and `EndpointHeadersOut` (api.svix.com/docs), Convoy's `models.EndpointResponse` and
 * `models.SubscriptionResponse` (docs/swagger.json, 26.3.5), Outpost's `DestinationWebhook` (docs/apis/openapi.yaml).
 */
import * as v from 'valibot';
import { defaultRetryPolicy } from '../../domain/retry-policy.ts';

export const foreignSystems = ['svix', 'convoy', 'outpost'] as const;
export type ForeignSystem = (typeof foreignSystems)[number];

interface Foreign {
  /** Its name in the other system, if a list may repeat it with other types; else null. */
  readonly endpoint: string | null;
  readonly url: string;
  readonly active: boolean;
  /** Null: all. */
  readonly types: readonly string[] | null;
  readonly customer: string | null;
  readonly description: string | null;
  readonly secret: string | null;
  readonly headers: Readonly<Record<string, string>> | null;
  /** The parts of the record that have no counterpart here. */
  readonly lost: readonly string[];
}

const text = v.nullish(v.string(), null);

const svix = v.pipe(
  v.looseObject({
    url: v.string(),
    description: text,
    disabled: v.nullish(v.boolean(), false),
    filterTypes: v.nullish(v.array(v.string()), null),
    // The application of the list, added by the person who fetched the list.
    appId: text,
    // The responses of GET …/secret/ and GET …/headers/.
    secret: v.nullish(v.union([v.string(), v.object({ key: v.string() })]), null),
    headers: v.nullish(
      v.object({ headers: v.record(v.string(), v.string()), sensitive: v.nullish(v.array(v.string()), []) }),
      null,
    ),
  }),
  v.transform(
    (each): Foreign => ({
      endpoint: null,
      url: each.url,
      active: each.disabled !== true,
      types: each.filterTypes,
      customer: each.appId,
      description: each.description,
      secret: typeof each.secret === 'object' ? (each.secret?.key ?? null) : each.secret,
      headers: each.headers?.headers ?? null,
      lost: [
        ...filled(each, ['channels', 'throttleRate', 'rateLimit', 'metadata']),
        ...(each.headers?.sensitive ?? []).map((name) => `the value of ${name}, which Svix does not reveal,`),
      ],
    }),
  ),
);

const convoyEndpoint = v.looseObject({
  uid: v.string(),
  url: v.string(),
  name: text,
  description: text,
  status: text,
  owner_id: text,
  /** In seconds. */
  http_timeout: v.nullish(v.unknown(), null),
  secrets: v.nullish(v.array(v.object({ value: v.string(), expires_at: text, deleted_at: text })), []),
  authentication: v.nullish(
    v.object({
      type: text,
      api_key: v.nullish(v.object({ header_name: text, header_value: text }), null),
      basic_auth: v.nullish(v.object({ username: text, password: text }), null),
    }),
    null,
  ),
});

/** In seconds. A receiver that had a longer time-out before may exceed the default time-out here. */
const LIMIT_S = defaultRetryPolicy.attemptTimeoutMs / 1_000;
/** Where Convoy reports an endpoint's failures, besides by e-mail. */
const CHATS = ['slack_webhook_url', 'teams_webhook_url'];

/** A subscription contains its endpoint. */
const convoy = v.pipe(
  v.looseObject({
    endpoint_metadata: convoyEndpoint,
    filter_config: v.nullish(
      v.object({ event_types: v.nullish(v.array(v.string()), null), filter: v.nullish(v.unknown(), null) }),
      null,
    ),
    delivery_mode: text,
  }),
  v.transform((each): Foreign => {
    const { endpoint_metadata: endpoint, filter_config: filter } = each;
    const { api_key: key = null, basic_auth: basic = null, type = null } = endpoint.authentication ?? {};
    const types = filter?.event_types ?? null;
    const named = typeof key?.header_name === 'string' && key.header_name !== '';
    const signedIn = typeof basic?.username === 'string' && basic.username !== '';
    const headers = {
      ...(named ? { [key?.header_name ?? '']: key?.header_value ?? '' } : {}),
      ...(signedIn
        ? {
            Authorization: `Basic ${Buffer.from(`${basic?.username}:${basic?.password ?? ''}`).toString('base64')}`,
          }
        : {}),
    };
    const present =
      endpoint.secrets?.filter(({ expires_at, deleted_at }) => expires_at === null && deleted_at === null) ??
      [];
    return {
      endpoint: endpoint.uid,
      url: endpoint.url,
      active: endpoint.status === null || endpoint.status === 'active',
      types: types === null || types.length === 0 || types.includes('*') ? null : types,
      customer: endpoint.owner_id,
      description: endpoint.description ?? endpoint.name,
      secret: present.at(-1)?.value ?? null,
      headers: Object.keys(headers).length === 0 ? null : headers,
      lost: [
        ...filled(filter ?? {}, ['filter']),
        ...filled(each, ['function', 'retry_config', 'rate_limit_config', 'alert_config']),
        ...(each.delivery_mode === 'at_most_once' ? ['delivery_mode'] : []),
        ...(Number(endpoint.http_timeout ?? 0) > LIMIT_S ? ['http_timeout'] : []),
        ...filled(endpoint, ['rate_limit', 'mtls_client_cert', 'support_email', ...CHATS]),
        ...(type === 'oauth2' ? ['oauth2'] : []),
      ],
    };
  }),
);

const outpost = v.pipe(
  v.looseObject({
    type: v.string(),
    topics: v.union([v.string(), v.array(v.string())]),
    disabled_at: text,
    // The tenant of the list, added by the person who fetched the list.
    tenant_id: text,
    config: v.object({ url: text, custom_headers: text }),
    credentials: v.nullish(v.looseObject({ secret: text }), null),
  }),
  v.check(({ type }) => type === 'webhook', 'is not a webhook: Waybill delivers over HTTP only'),
  v.transform((each): Foreign => {
    const topics = typeof each.topics === 'string' ? [each.topics] : each.topics;
    const headers = headersOf(each.config.custom_headers);
    return {
      endpoint: null,
      url: each.config.url ?? '',
      active: each.disabled_at === null,
      types: topics.includes('*') ? null : topics,
      customer: each.tenant_id,
      description: null,
      secret: each.credentials?.secret ?? null,
      headers,
      lost: [
        ...(headers === null ? filled(each.config, ['custom_headers']) : []),
        ...filled(each, ['filter', 'delivery_metadata', 'metadata']),
        ...filled(each.credentials ?? {}, ['previous_secret']),
      ],
    };
  }),
);

export const readers: Readonly<Record<ForeignSystem, v.GenericSchema<unknown, Foreign>>> = {
  svix,
  convoy,
  outpost,
};

/** The fields that are not empty. */
function filled(record: object, names: readonly string[]): string[] {
  return names.filter((name) => says(Reflect.get(record, name)));
}

/** Whether a value is not empty; an object of empty values, as in their responses, is empty. */
function says(value: unknown): boolean {
  if (typeof value === 'object' && value !== null) return Object.values(value).some(says);
  return value !== undefined && value !== null && value !== '' && value !== 0 && value !== false;
}

function headersOf(json: string | null): Record<string, string> | null {
  if (json === null || json === '') return null;
  const read = v.safeParse(v.pipe(v.string(), v.parseJson(), v.record(v.string(), v.string())), json);
  return read.success ? read.output : null;
}
