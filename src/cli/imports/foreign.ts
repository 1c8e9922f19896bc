/**
 * What other systems answer, as lines of webhooks. Written after their public API documents: Svix's `EndpointOut`,
 * `EndpointSecretOut` and `EndpointHeadersOut` (api.svix.com/docs), Convoy's `models.EndpointResponse` and
 * `models.SubscriptionResponse` (docs/swagger.json, version 26.3.5), Outpost's `DestinationWebhook` (docs/apis/openapi.yaml).
 */
import * as v from 'valibot';
import type { ImportLine } from './import-lines.ts';
import type { Mapping } from './mapping.ts';
import { fieldOf, withoutUser } from './refusal.ts';

export const foreignSystems = ['svix', 'convoy', 'outpost'] as const;
export type ForeignSystem = (typeof foreignSystems)[number];

/** One receiver of theirs. */
interface Foreign {
  readonly url: string;
  readonly active: boolean;
  /** Null: all. */
  readonly types: readonly string[] | null;
  readonly customer: string | null;
  readonly description: string | null;
  readonly secret: string | null;
  readonly headers: Readonly<Record<string, string>> | null;
  /** What has no counterpart here. */
  readonly lost: readonly string[];
}

const text = v.nullish(v.string(), null);

const svix = v.pipe(
  v.looseObject({
    url: v.string(),
    description: text,
    disabled: v.nullish(v.boolean(), false),
    filterTypes: v.nullish(v.array(v.string()), null),
    // Of the application whose list it is, as whoever asks for the list knows it.
    appId: text,
    // What GET …/secret/ and GET …/headers/ answer.
    secret: v.nullish(v.union([v.string(), v.object({ key: v.string() })]), null),
    headers: v.nullish(
      v.object({ headers: v.record(v.string(), v.string()), sensitive: v.nullish(v.array(v.string()), []) }),
      null,
    ),
  }),
  v.transform(
    (each): Foreign => ({
      url: each.url,
      active: each.disabled !== true,
      types: each.filterTypes,
      customer: each.appId,
      description: each.description,
      secret: typeof each.secret === 'object' ? (each.secret?.key ?? null) : each.secret,
      headers: each.headers?.headers ?? null,
      lost: [
        ...filled(each, ['channels', 'throttleRate', 'rateLimit', 'metadata']),
        ...(each.headers?.sensitive ?? []).map((name) => `the value of ${name}, which Svix does not tell,`),
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

/** Where Convoy tells of an endpoint's failures, beside its e-mails. */
const CHATS = ['slack_webhook_url', 'teams_webhook_url'];

/** A subscription has its endpoint within it. */
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
    // Of the tenant whose list it is, as whoever asks for the list knows it.
    tenant_id: text,
    config: v.object({ url: text, custom_headers: text }),
    credentials: v.nullish(v.looseObject({ secret: text }), null),
  }),
  v.check(({ type }) => type === 'webhook', 'is no webhook: Waybill delivers over HTTP only'),
  v.transform((each): Foreign => {
    const topics = typeof each.topics === 'string' ? [each.topics] : each.topics;
    const headers = headersOf(each.config.custom_headers);
    return {
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

const readers: Readonly<Record<ForeignSystem, v.GenericSchema<unknown, Foreign>>> = { svix, convoy, outpost };

/** Which of these fields say something. */
function filled(record: object, names: readonly string[]): string[] {
  return names.filter((name) => says(Reflect.get(record, name)));
}

/** Whether there is anything in it: their systems answer whole objects of nothing, too. */
function says(value: unknown): boolean {
  if (typeof value === 'object' && value !== null) return Object.values(value).some(says);
  return value !== undefined && value !== null && value !== '' && value !== 0 && value !== false;
}

function headersOf(json: string | null): Record<string, string> | null {
  if (json === null || json === '') return null;
  const read = v.safeParse(v.pipe(v.string(), v.parseJson(), v.record(v.string(), v.string())), json);
  return read.success ? read.output : null;
}

/** The lists that these systems answer, taken apart; anything else is one record. */
function recordsIn(value: unknown): readonly unknown[] {
  if (Array.isArray(value)) return value;
  const data = fieldOf(value, 'data');
  if (Array.isArray(data)) return data;
  const content = fieldOf(data, 'content');
  return Array.isArray(content) ? content : [value];
}

/** Svix says `done`, Convoy `has_next_page`: whether the list goes on with another page. */
const pageSchema = v.union([
  v.object({ done: v.literal(false) }),
  v.object({ data: v.object({ pagination: v.object({ has_next_page: v.literal(true) }) }) }),
]);

/**
 * One webhook for each event type that has a counterpart, a problem for each that has none, and one for a page that goes on where
 * no other follows.
 */
export async function* foreignLines(
  system: ForeignSystem,
  lines: AsyncIterable<ImportLine>,
  mapping: Mapping,
): AsyncGenerator<ImportLine, void> {
  /** The page before, if its list goes on. */
  let before: { readonly line: number; readonly customer: unknown } | null = null;
  const cutOff = (line: number) => ({
    line,
    problem: 'is not the last page of its list: put the next one behind it',
  });
  for await (const each of lines) {
    if ('problem' in each) {
      yield each;
      continue;
    }
    const records = recordsIn(each.value);
    // Svix pages the list of each application.
    const customer = fieldOf(records[0], 'appId');
    if (before !== null && before.customer !== customer) yield cutOff(before.line);
    for (const record of records) yield* webhooksOf(system, each.line, record, mapping);
    before = v.is(pageSchema, each.value) ? { line: each.line, customer } : null;
  }
  if (before !== null) yield cutOff(before.line);
}

function* webhooksOf(
  system: ForeignSystem,
  line: number,
  record: unknown,
  { types, eshops }: Mapping,
): Generator<ImportLine, void> {
  const read = v.safeParse(readers[system], record);
  if (!read.success) {
    const [issue] = read.issues;
    return yield {
      line,
      problem: `${v.getDotPath(issue) ?? 'record'}: ${issue.message.replace(/ but received .*/s, '')}`,
    };
  }
  const { lost, customer, types: wanted, ...webhook } = read.output;
  const eshop = customer !== null && Object.hasOwn(eshops, customer) ? eshops[customer] : undefined;
  if (customer !== null && eshop === undefined)
    return yield { line, problem: `"${customer}" is no e-shop in the map` };
  const found = new Set<string>();
  const names = wanted ?? Object.keys(types);
  const without = names.length === 0 ? ['an endpoint without event types has no counterpart'] : [];
  for (const name of names) {
    const counterparts = (Object.hasOwn(types, name) ? types[name] : undefined) ?? [];
    if (counterparts.length === 0) without.push(`"${name}" has no counterpart in the map`);
    for (const counterpart of counterparts) found.add(counterpart);
  }
  for (const each of [...without, ...lost.map((part) => `${part} has no counterpart`)])
    yield { line, problem: `${withoutUser(webhook.url)}: ${each}`, outcome: 'unmapped' };
  for (const webhookType of found) {
    yield {
      line,
      value: { ...webhook, webhookType, method: 'POST', ...(eshop === undefined ? {} : { eshop }) },
    };
  }
}
