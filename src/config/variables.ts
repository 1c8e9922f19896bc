/** Every environment variable of Waybill: its values, its default, and its meaning. */
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
  oneOf,
  period,
  proxyUrl,
  text,
  url,
} from './values.ts';

/** Requests of all e-shops that use the database at once: {@link POOL_SIZE} leaves room for other work. */
export const MAX_DATABASE_CONNECTIONS = 14;
/** Connections to the database per process: enough for the attempts that read or record at the same time. */
export const POOL_SIZE = 20;

/** In the order of the documentation. */
export const variables = v.object({
  ROLE: v.optional(oneOf('all', 'api', 'worker'), 'all'),
  PORT: v.optional(integer(0, 65_535), '8080'),
  METRICS_PORT: v.optional(integer(0, 65_535)),
  HOST: v.optional(text, '127.0.0.1'),
  DATA_DIR: v.optional(text, '.waybill'),
  DATABASE_URL: v.optional(databaseUrl),
  DATABASE_DIRECT_URL: v.optional(databaseUrl),
  TEMPORAL_ADDRESS: v.optional(hostAndPort),
  TEMPORAL_NAMESPACE: v.optional(text, 'default'),
  TEMPORAL_TASK_QUEUE: v.optional(text, 'deliveries'),
  TEMPORAL_TLS: v.optional(flag, 'false'),
  TEMPORAL_TLS_CA_FILE: v.optional(text),
  TEMPORAL_TLS_CERT_FILE: v.optional(text),
  TEMPORAL_TLS_KEY_FILE: v.optional(text),
  TEMPORAL_API_KEY: v.optional(text),
  TEMPORAL_UI_URL: v.optional(url(['http:', 'https:'])),
  SMTP_URL: v.optional(url(['smtp:', 'smtps:'])),
  PUBLIC_URL: v.optional(baseUrl),
  MAIL_FROM: v.optional(mailbox, 'Waybill <waybill@localhost>'),
  SECRET_KEY: v.optional(key),
  SECRET_KEY_PREVIOUS: v.optional(keyList, ''),
  DELIVERY_TIMEOUT: v.optional(duration, '15s'),
  WORKFLOWS: v.optional(oneOf('all', 'undelivered'), 'all'),
  RETRY_INITIAL_INTERVAL: v.optional(duration, '25s'),
  RETRY_COEFFICIENT: v.optional(
    number((value) => value >= 1 && value <= 10, 'a number from 1 to 10'),
    '1.5',
  ),
  RETRY_MAX: v.optional(integer(0, 1_000), '20'),
  RETRY_WINDOW: v.optional(duration, '48h'),
  RETENTION: v.optional(period, '30d'),
  DELIVERY_ALLOW_CIDRS: v.optional(cidrs, ''),
  DNS_SERVERS: v.optional(nameServers, ''),
  EGRESS_ADDRESSES: v.optional(cidrs, ''),
  WEBHOOK_HTTPS_ONLY: v.optional(flag, 'false'),
  OUTBOUND_PROXY: v.optional(proxyUrl),
  LOGIN_LIMIT_PER_ADDRESS: v.optional(integer(1, 1_000_000), '300'),
  MAX_CONNECTIONS: v.optional(integer(1, 1_000_000), '5000'),
  KEEP_ALIVE_TIMEOUT: v.optional(duration, '75s'),
  ESHOP_REQUESTS: v.optional(integer(1, 1_000_000), '200'),
  ESHOP_CONNECTIONS: v.optional(integer(1, MAX_DATABASE_CONNECTIONS), '8'),
  ESHOP_MIB_PER_SECOND: v.optional(integer(1, 1_000_000), '32'),
  TRUST_PROXY: v.optional(flag, 'false'),
  SHUTDOWN_GRACE: v.optional(duration),
  SHIPPER_SERVICES_FILE: v.optional(text),
  MARKETPLACES_FILE: v.optional(text),
  LOG_LEVEL: v.optional(oneOf('fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'), 'info'),
  OTEL_EXPORTER_OTLP_ENDPOINT: v.optional(baseUrl),
  OTEL_EXPORTER_OTLP_PROTOCOL: v.optional(oneOf('http/protobuf', 'http/json'), 'http/protobuf'),
  OTEL_EXPORTER_OTLP_HEADERS: v.optional(text),
  OTEL_SERVICE_NAME: v.optional(text),
  OTEL_RESOURCE_ATTRIBUTES: v.optional(text),
  OTEL_TRACES_SAMPLER: v.optional(
    oneOf(
      'always_on',
      'always_off',
      'traceidratio',
      'parentbased_always_on',
      'parentbased_always_off',
      'parentbased_traceidratio',
    ),
    'parentbased_always_on',
  ),
  OTEL_TRACES_SAMPLER_ARG: v.optional(
    number((value) => value <= 1, 'a number from 0 to 1'),
    '1',
  ),
  OTEL_BSP_MAX_QUEUE_SIZE: v.optional(integer(1, 1_000_000), '2048'),
  OTEL_BSP_SCHEDULE_DELAY: v.optional(integer(1, 600_000), '5000'),
  OTEL_SDK_DISABLED: v.optional(flag, 'false'),
});

export type Settings = v.InferOutput<typeof variables>;

/** The meaning of each variable, for the documentation. */
export const meanings: Readonly<Record<string, string>> = {
  ROLE: 'what this process does: `api`, `worker` (relay and worker) or `all`',
  PORT: 'port of the API; 0 takes a free one',
  METRICS_PORT:
    'port of `/metrics`, `/healthz` and `/readyz` of this process, whatever its role; 0 takes a free one; unset: 9464, or a free one if that is taken',
  HOST: 'address that the API and `/metrics` listen on',
  DATA_DIR: 'embedded databases, mail files, generated keys',
  DATABASE_URL: 'Postgres, or a pooler in front of it; unset: embedded, under `DATA_DIR`',
  DATABASE_DIRECT_URL:
    'the server itself where `DATABASE_URL` leads to a pooler: for LISTEN, and for claims and the statements of attempts, which are expensive to plan; unset: workers poll for work once a second',
  TEMPORAL_ADDRESS: 'Temporal, as `host:port`; unset: a dev server with its UI, under `DATA_DIR`',
  TEMPORAL_NAMESPACE: 'Temporal namespace',
  TEMPORAL_TASK_QUEUE: 'Temporal task queue',
  TEMPORAL_TLS: 'connect to Temporal with TLS',
  TEMPORAL_TLS_CA_FILE: "PEM file with the CA certificates that Temporal's certificate is verified against",
  TEMPORAL_TLS_CERT_FILE: 'PEM file with the client certificate for mutual TLS',
  TEMPORAL_TLS_KEY_FILE: 'PEM file with the key of that certificate',
  TEMPORAL_API_KEY: 'API key of Temporal Cloud (implies TLS)',
  TEMPORAL_UI_URL:
    "address of Temporal's UI as a browser reaches it, for links in the console and of `waybill`; unset: that of the dev server",
  SMTP_URL: 'mail server; unset: `.eml` files under `DATA_DIR`/mail',
  PUBLIC_URL:
    'where e-shops reach the API, such as `https://api.shop.example` or `https://shop.example/waybill`: mails have links there, documentation and OpenAPI document name it, and its path is the prefix of all links; unset: mails name paths only, and e-shops cannot name further addresses for notices. With `https`, cookies of the console are `Secure`',
  MAIL_FROM: 'sender of the mails',
  SECRET_KEY:
    '32 bytes, base64: encrypts webhook secrets at rest, derives the token key. Unset: generated in `DATA_DIR`; required once `DATABASE_URL` is set',
  SECRET_KEY_PREVIOUS:
    'further keys, separated by commas, that still open what they sealed: old ones, or the next one, while `SECRET_KEY` is being replaced',
  DELIVERY_TIMEOUT:
    'time limit for a whole attempt; below 6.25 s, a connection must be made in four fifths of it instead of in 5 s. The guides and D5 of the interface name the default: tell e-shops if you change it. Stopping a process takes up to 25 s longer, and its supervisor must wait for that',
  WORKFLOWS:
    'which attempted deliveries get a workflow of their own; `all`: every one, in a burst later; `undelivered`: all but those accepted at the first attempt while others waited',
  RETRY_INITIAL_INTERVAL: 'wait before the first retry',
  RETRY_COEFFICIENT: 'factor between a wait and the one before it',
  RETRY_MAX: 'retries after the first attempt',
  RETRY_WINDOW: 'how long after the first attempt further ones may start',
  RETENTION:
    'how long events and deliveries are kept at least, such as `30d` or `36h`; they are dropped by the week, and open ones stay',
  DELIVERY_ALLOW_CIDRS:
    'address ranges exempt from the guard against private destinations; unset, with nothing else configured: `127.0.0.0/8,::1/128`; empty: none',
  DNS_SERVERS:
    'name servers used to look up receivers, as `address` or `address:port`, separated by commas; empty: the system’s',
  EGRESS_ADDRESSES:
    'address ranges that deliveries come from, such as `203.0.113.0/28`, separated by commas: shown to e-shops, for their firewalls; empty: nothing is shown',
  WEBHOOK_HTTPS_ONLY: 'new and changed URLs of webhooks must be `https:`; existing ones stay',
  OUTBOUND_PROXY:
    'proxy that every request to a receiver goes through, as `http://user:password@proxy.example:3128` or `https://…`; unset: none',
  LOGIN_LIMIT_PER_ADDRESS:
    'failed logins from one address in a quarter of an hour, counted for each e-shop, and once for all unknown keys; ten times as many for all e-shop numbers typed into the console',
  MAX_CONNECTIONS:
    'client connections to the API at the same time, per process; a further one replaces the one that has been idle longest, or is closed if none is idle',
  KEEP_ALIVE_TIMEOUT:
    'how long an idle connection to the API is kept; it must be longer than the proxy in front keeps its own, or the proxy answers some requests with 502',
  ESHOP_REQUESTS:
    'requests of one e-shop under way at the same time, per process; any further one is rejected with 429',
  ESHOP_CONNECTIONS:
    'requests of one e-shop that use the database at the same time; the others wait for their turn',
  ESHOP_MIB_PER_SECOND:
    'MiB per second that one e-shop may send and receive together, the bodies of its deliveries included, averaged over ten seconds; beyond that, or while twice as many MiB of its responses are unread, requests are rejected with 429',
  TRUST_PROXY: 'trust `X-Forwarded-For`; only behind a proxy that sets it',
  SHUTDOWN_GRACE:
    'how long a shutdown may take, whatever hangs; attempts in progress have this time to finish; unset: `DELIVERY_TIMEOUT` plus 25 seconds',
  SHIPPER_SERVICES_FILE: 'JSON file that replaces the carriers and their services',
  MARKETPLACES_FILE: 'JSON file with further marketplaces',
  LOG_LEVEL: 'lowest level of the log lines that are written',
  OTEL_EXPORTER_OTLP_ENDPOINT:
    'OpenTelemetry collector that takes traces by OTLP over HTTP, such as `http://127.0.0.1:4318`; unset: no traces are made. All further variables of OTLP exporters (`…_CERTIFICATE`, `…_COMPRESSION`, `…_TIMEOUT`) mean what the standard says',
  OTEL_EXPORTER_OTLP_PROTOCOL: 'how it takes them: `http/protobuf` or `http/json`',
  OTEL_EXPORTER_OTLP_HEADERS: 'headers of requests to it, as `name=value`, separated by commas',
  OTEL_SERVICE_NAME:
    'name of this process in traces; unset: `waybill`, `waybill-api` or `waybill-worker`, by its role',
  OTEL_RESOURCE_ATTRIBUTES: 'what else traces say of this process, as `name=value`, separated by commas',
  OTEL_TRACES_SAMPLER:
    'which traces are recorded: one of the standard’s samplers. Those that are `parentbased_` also record what a client says that it records',
  OTEL_TRACES_SAMPLER_ARG: 'share of the traces that a sampler with `traceidratio` in its name records',
  OTEL_BSP_MAX_QUEUE_SIZE: 'spans that wait for the collector; any further one is lost',
  OTEL_BSP_SCHEDULE_DELAY: 'how long spans wait for others before they are sent together, in milliseconds',
  OTEL_SDK_DISABLED: '`true`: no traces, whatever else is set',
} satisfies Record<keyof Settings, string>;
