/** Every environment variable of Waybill: one schema, with defaults and meanings. */
import * as v from 'valibot';
import { databaseUrl } from './database-url.ts';
import {
  baseUrl,
  cidrs,
  duration,
  flag,
  hostAndPort,
  integer,
  key,
  keyList,
  mailbox,
  nameServers,
  number,
  period,
  proxyUrl,
  text,
  url,
} from './values.ts';

/**
 * Requests that use the database at the same time, of all e-shops together: {@link POOL_SIZE} leaves room for other
 * work.
 */
export const MAX_DATABASE_CONNECTIONS = 14;
/** Connections to the database per process: enough for the attempts that read or record at the same time. */
export const POOL_SIZE = 20;

/** The samplers of the OpenTelemetry specification. */
const SAMPLERS = [
  'always_on',
  'always_off',
  'traceidratio',
  'parentbased_always_on',
  'parentbased_always_off',
  'parentbased_traceidratio',
] as const;

function withDefault<S extends v.GenericSchema<string, unknown>>(
  schema: S,
  meaning: string,
  fallback: string,
) {
  return v.optional(v.pipe(schema, v.description(meaning)), fallback);
}
function withoutDefault<S extends v.GenericSchema<string, unknown>>(schema: S, meaning: string) {
  return v.optional(v.pipe(schema, v.description(meaning)));
}

/** In the order of the documentation. */
export const variables = v.object({
  ROLE: withDefault(
    v.picklist(['all', 'api', 'worker'], 'must be all, api or worker'),
    'what this process does: `api`, `worker` (relay and worker) or `all`',
    'all',
  ),
  PORT: withDefault(integer(0, 65_535), 'port of the API; 0 takes a free one', '8080'),
  METRICS_PORT: withoutDefault(
    integer(0, 65_535),
    'port of `/metrics`, `/healthz` and `/readyz` of this process, whatever its role; 0 takes a free one; unset: 9464, or a free one if that is taken',
  ),
  HOST: withDefault(text, 'address that the API and `/metrics` listen on', '127.0.0.1'),
  DATA_DIR: withDefault(text, 'embedded databases, mail files, generated keys', '.waybill'),
  DATABASE_URL: withoutDefault(
    databaseUrl,
    'Postgres, or a pooler in front of it; unset: embedded, under `DATA_DIR`',
  ),
  DATABASE_DIRECT_URL: withoutDefault(
    databaseUrl,
    'the server itself where `DATABASE_URL` leads to a pooler: for LISTEN, and for claims and the statements of attempts, which are expensive to plan; unset: workers poll for work once a second',
  ),
  TEMPORAL_ADDRESS: withoutDefault(
    hostAndPort,
    'Temporal, as `host:port`; unset: a dev server with its UI, under `DATA_DIR`',
  ),
  TEMPORAL_NAMESPACE: withDefault(text, 'Temporal namespace', 'default'),
  TEMPORAL_TASK_QUEUE: withDefault(text, 'Temporal task queue', 'deliveries'),
  TEMPORAL_TLS: withDefault(flag, 'connect to Temporal with TLS', 'false'),
  TEMPORAL_TLS_CA_FILE: withoutDefault(
    text,
    "PEM file with the CA certificates that Temporal's certificate is verified against",
  ),
  TEMPORAL_TLS_CERT_FILE: withoutDefault(text, 'PEM file with the client certificate for mutual TLS'),
  TEMPORAL_TLS_KEY_FILE: withoutDefault(text, 'PEM file with the key of that certificate'),
  TEMPORAL_API_KEY: withoutDefault(text, 'API key of Temporal Cloud (implies TLS)'),
  TEMPORAL_UI_URL: withoutDefault(
    url(['http:', 'https:']),
    "address of Temporal's UI as a browser reaches it, for links in the console and of `waybill`; unset: that of the dev server",
  ),
  SMTP_URL: withoutDefault(
    url(['smtp:', 'smtps:']),
    'mail server; unset: `.eml` files under `DATA_DIR`/mail',
  ),
  PUBLIC_URL: withoutDefault(
    baseUrl,
    'where e-shops reach the API, such as `https://api.shop.example` or `https://shop.example/waybill`: mails have links there, documentation and OpenAPI document name it, and its path is the prefix of all links; unset: mails name paths only, and e-shops cannot name further addresses for notices. With `https`, cookies of the console are `Secure`',
  ),
  MAIL_FROM: withDefault(mailbox, 'sender of the mails', 'Waybill <waybill@localhost>'),
  SECRET_KEY: withoutDefault(
    key,
    '32 bytes, base64: encrypts webhook secrets at rest, derives the token key. Unset: generated in `DATA_DIR`; required once `DATABASE_URL` is set',
  ),
  SECRET_KEY_PREVIOUS: withDefault(
    keyList,
    'further keys, separated by commas, that still open what they sealed: old ones, or the next one, while `SECRET_KEY` is being replaced',
    '',
  ),
  DELIVERY_TIMEOUT: withDefault(
    duration,
    'time limit for a whole attempt; stopping a process takes up to 25 s longer, and its supervisor must wait for that',
    '15s',
  ),
  WORKFLOWS: withDefault(
    v.picklist(['all', 'undelivered'], 'must be all or undelivered'),
    'which attempted deliveries get a workflow of their own; `all`: every one, in a burst later; `undelivered`: all but those accepted at the first attempt while others waited',
    'all',
  ),
  RETRY_INITIAL_INTERVAL: withDefault(duration, 'wait before the first retry', '25s'),
  RETRY_COEFFICIENT: withDefault(
    number((value) => value >= 1 && value <= 10, 'a number from 1 to 10'),
    'factor between a wait and the one before it',
    '1.5',
  ),
  RETRY_MAX: withDefault(integer(0, 1_000), 'retries after the first attempt', '20'),
  RETRY_WINDOW: withDefault(duration, 'how long after the first attempt further ones may start', '48h'),
  RETENTION: withDefault(
    period,
    'how long events and deliveries are kept at least, such as `30d` or `36h`; they are dropped by the week, and open ones stay',
    '30d',
  ),
  DELIVERY_ALLOW_CIDRS: withDefault(
    cidrs,
    'address ranges exempt from the guard against private destinations; unset, with nothing else configured: `127.0.0.0/8,::1/128`; empty: none',
    '',
  ),
  DNS_SERVERS: withDefault(
    nameServers,
    'name servers used to look up receivers, as `address` or `address:port`, separated by commas; empty: the system’s',
    '',
  ),
  EGRESS_ADDRESSES: withDefault(
    cidrs,
    'address ranges that deliveries come from, such as `203.0.113.0/28`, separated by commas: shown to e-shops, for their firewalls; empty: nothing is shown',
    '',
  ),
  WEBHOOK_HTTPS_ONLY: withDefault(
    flag,
    'new and changed URLs of webhooks must be `https:`; existing ones stay',
    'false',
  ),
  OUTBOUND_PROXY: withoutDefault(
    proxyUrl,
    'proxy that every request to a receiver goes through, as `http://user:password@proxy.example:3128` or `https://…`; unset: none',
  ),
  LOGIN_LIMIT_PER_ADDRESS: withDefault(
    integer(1, 1_000_000),
    'failed logins from one address in a quarter of an hour, counted for each e-shop, and once for all unknown keys; ten times as many for all e-shop numbers typed into the console',
    '300',
  ),
  MAX_CONNECTIONS: withDefault(
    integer(1, 1_000_000),
    'client connections to the API at the same time, per process; a further one replaces the one that has been idle longest, or is closed if none is idle',
    '5000',
  ),
  KEEP_ALIVE_TIMEOUT: withDefault(
    duration,
    'how long an idle connection to the API is kept; it must be longer than the proxy in front keeps its own, or the proxy answers some requests with 502',
    '75s',
  ),
  ESHOP_REQUESTS: withDefault(
    integer(1, 1_000_000),
    'requests of one e-shop under way at the same time, per process; any further one is rejected with 429',
    '200',
  ),
  ESHOP_CONNECTIONS: withDefault(
    integer(1, MAX_DATABASE_CONNECTIONS),
    'requests of one e-shop that use the database at the same time; the others wait for their turn',
    '8',
  ),
  ESHOP_MIB_PER_SECOND: withDefault(
    integer(1, 1_000_000),
    'MiB per second that one e-shop may send and receive together, the bodies of its deliveries included, averaged over ten seconds; beyond that, or while twice as many MiB of its responses are unread, requests are rejected with 429',
    '32',
  ),
  TRUST_PROXY: withDefault(flag, 'trust `X-Forwarded-For`; only behind a proxy that sets it', 'false'),
  SHUTDOWN_GRACE: withoutDefault(
    duration,
    'how long a shutdown may take, whatever hangs; attempts in progress have this time to finish; unset: `DELIVERY_TIMEOUT` plus 25 seconds',
  ),
  SHIPPER_SERVICES_FILE: withoutDefault(text, 'JSON file that replaces the carriers and their services'),
  MARKETPLACES_FILE: withoutDefault(text, 'JSON file with further marketplaces'),
  LOG_LEVEL: withDefault(
    v.picklist(
      ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'],
      'must be fatal, error, warn, info, debug, trace or silent',
    ),
    'lowest level of the log lines that are written',
    'info',
  ),
  OTEL_EXPORTER_OTLP_ENDPOINT: withoutDefault(
    baseUrl,
    'OpenTelemetry collector that takes traces by OTLP over HTTP, such as `http://127.0.0.1:4318`; unset: no traces are made. All further variables of OTLP exporters (`…_CERTIFICATE`, `…_COMPRESSION`, `…_TIMEOUT`) mean what the standard says',
  ),
  OTEL_EXPORTER_OTLP_PROTOCOL: withDefault(
    v.picklist(['http/protobuf', 'http/json'], 'must be http/protobuf or http/json'),
    'how it takes them: `http/protobuf` or `http/json`',
    'http/protobuf',
  ),
  OTEL_EXPORTER_OTLP_HEADERS: withoutDefault(
    text,
    'headers of requests to it, as `name=value`, separated by commas',
  ),
  OTEL_SERVICE_NAME: withoutDefault(
    text,
    'name of this process in traces; unset: `waybill`, `waybill-api` or `waybill-worker`, by its role',
  ),
  OTEL_RESOURCE_ATTRIBUTES: withoutDefault(
    text,
    'what else traces say of this process, as `name=value`, separated by commas',
  ),
  OTEL_TRACES_SAMPLER: withDefault(
    v.picklist(SAMPLERS, `must be ${SAMPLERS.slice(0, -1).join(', ')} or ${SAMPLERS.at(-1)}`),
    'which traces are recorded: one of the standard’s samplers. Those that are `parentbased_` also record what a client says that it records',
    'parentbased_always_on',
  ),
  OTEL_TRACES_SAMPLER_ARG: withDefault(
    number((value) => value <= 1, 'a number from 0 to 1'),
    'share of the traces that a sampler with `traceidratio` in its name records',
    '1',
  ),
  OTEL_BSP_MAX_QUEUE_SIZE: withDefault(
    integer(1, 1_000_000),
    'spans that wait for the collector; any further one is lost',
    '2048',
  ),
  OTEL_BSP_SCHEDULE_DELAY: withDefault(
    integer(1, 600_000),
    'how long spans wait for others before they are sent together, in milliseconds',
    '5000',
  ),
  OTEL_SDK_DISABLED: withDefault(flag, '`true`: no traces, whatever else is set', 'false'),
});

export type Settings = v.InferOutput<typeof variables>;
