/**
 * Every environment variable Waybill knows: one schema, with its default and its meaning.
 * @module
 */
import { isIP } from 'node:net';
import * as v from 'valibot';
import type { RetryPolicy } from './domain/retry-policy.ts';

/** A wrong setting: one sentence that names the variable. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
}

const UNITS = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 } as const;
/** Timers beyond this many milliseconds do not exist in Node. */
const LONGEST_MS = 2 ** 31 - 1;

/** `250ms`, `15s`, `30m`, `48h` → milliseconds. */
const duration = v.pipe(
  v.string(),
  v.regex(/^\d+(\.\d+)?(ms|s|m|h)$/, 'must be a duration such as 250ms, 15s or 48h'),
  v.transform((text) => {
    const unit = text.endsWith('ms') ? 'ms' : (text.slice(-1) as 's' | 'm' | 'h');
    return Math.round(Number.parseFloat(text) * UNITS[unit]);
  }),
  v.minValue(1, 'must be at least 1ms'),
  v.maxValue(LONGEST_MS, 'must be at most 596h'),
);

function number(check: (value: number) => boolean, what: string) {
  return v.pipe(
    v.string(),
    v.check((text) => /^\d+(\.\d+)?$/.test(text) && check(Number(text)), `must be ${what}`),
    v.transform(Number),
  );
}
const integer = (from: number, to: number) =>
  number(
    (value) => Number.isInteger(value) && value >= from && value <= to,
    `an integer from ${from} to ${to}`,
  );
const flag = v.pipe(
  v.picklist(['true', 'false'], 'must be true or false'),
  v.transform((text) => text === 'true'),
);
const url = (protocols: readonly string[]) =>
  v.pipe(
    v.string(),
    v.check(
      (text) => URL.canParse(text) && protocols.includes(new URL(text).protocol),
      `must be a URL beginning with ${protocols.map((protocol) => `${protocol}//`).join(' or ')}`,
    ),
  );
const hostAndPort = v.pipe(
  v.string(),
  v.regex(/^[^\s:/]+:\d{1,5}$|^\[[0-9a-f:]+\]:\d{1,5}$/i, 'must be host:port'),
);
const cidr = v.pipe(
  v.string(),
  v.check((text) => {
    const [address = '', bits = '', ...rest] = text.split('/');
    const version = isIP(address);
    return (
      rest.length === 0 &&
      version !== 0 &&
      /^\d{1,3}$/.test(bits) &&
      Number(bits) <= (version === 4 ? 32 : 128)
    );
  }, 'must be address ranges such as 10.0.0.0/8, separated by commas'),
);
/** What stands between commas. */
const list = v.pipe(
  v.string(),
  v.transform((text) =>
    text
      .split(',')
      .map((part) => part.trim())
      .filter((part) => part !== ''),
  ),
);
const cidrs = v.pipe(list, v.array(cidr));
const nameServers = v.pipe(
  list,
  v.array(
    v.pipe(
      v.string(),
      v.check((text) => {
        const [, bracketed, port] = /^(?:\[(.+)\]|[^:]+)(?::(\d{1,5}))?$/.exec(text) ?? [];
        const address = bracketed ?? (isIP(text) === 6 ? text : text.replace(/:\d+$/, ''));
        return isIP(address) !== 0 && Number(port ?? 53) <= 65_535;
      }, 'must be addresses such as 192.0.2.53 or [2001:db8::53]:5353, separated by commas'),
    ),
  ),
);
const key = v.pipe(
  v.string(),
  v.check(
    (text) => /^[A-Za-z0-9+/_-]{43}=?$/.test(text) && Buffer.from(text, 'base64').length === 32,
    'must be 32 bytes in base64, e.g. the output of: openssl rand -base64 32',
  ),
  v.transform((text) => Buffer.from(text, 'base64')),
);
const keyList = v.pipe(
  v.string(),
  v.transform((text) =>
    text
      .split(',')
      .map((part) => part.trim())
      .filter((part) => part !== ''),
  ),
  v.array(key),
);
const text = v.pipe(v.string(), v.minLength(1, 'must not be empty'));

/** One variable: what it may hold, what it means, and its default as it would be written. */
function withDefault<S extends v.GenericSchema<string, unknown>>(
  schema: S,
  meaning: string,
  standard: string,
) {
  return v.optional(v.pipe(schema, v.description(meaning)), standard);
}
function unset<S extends v.GenericSchema<string, unknown>>(schema: S, meaning: string) {
  return v.optional(v.pipe(schema, v.description(meaning)));
}

/** Requests that use the database at the same time, of all e-shops together: {@link POOL_SIZE} leaves room beside them. */
export const MOST_CONNECTIONS = 14;
/** Connections to the database per process: enough for the attempts that read or record at the same moment. */
export const POOL_SIZE = 20;

/** All variables, in the order of the documentation. */
export const variables = v.object({
  ROLE: withDefault(
    v.picklist(['all', 'api', 'worker'], 'must be all, api or worker'),
    'what this process does: `api`, `worker` (relay and worker) or `all`',
    'all',
  ),
  PORT: withDefault(integer(0, 65_535), 'port of the API; 0 takes a free one', '8080'),
  HOST: withDefault(text, 'address the API listens on', '127.0.0.1'),
  DATA_DIR: withDefault(text, 'embedded databases, mail files, generated keys', '.waybill'),
  DATABASE_URL: unset(url(['postgres:', 'postgresql:']), 'Postgres; unset: embedded, under `DATA_DIR`'),
  TEMPORAL_ADDRESS: unset(
    hostAndPort,
    'Temporal, as `host:port`; unset: a dev server with its UI, under `DATA_DIR`',
  ),
  TEMPORAL_NAMESPACE: withDefault(text, 'Temporal namespace', 'default'),
  TEMPORAL_TASK_QUEUE: withDefault(text, 'Temporal task queue', 'deliveries'),
  TEMPORAL_TLS: withDefault(flag, 'connect to Temporal with TLS', 'false'),
  TEMPORAL_TLS_CA_FILE: unset(text, "PEM file with the certificates that Temporal's is checked against"),
  TEMPORAL_TLS_CERT_FILE: unset(text, 'PEM file with our certificate for mutual TLS'),
  TEMPORAL_TLS_KEY_FILE: unset(text, 'PEM file with its key'),
  TEMPORAL_API_KEY: unset(text, 'API key of Temporal Cloud (implies TLS)'),
  SMTP_URL: unset(url(['smtp:', 'smtps:']), 'mail server; unset: `.eml` files under `DATA_DIR`/mail'),
  MAIL_FROM: withDefault(text, 'sender of the mails', 'Waybill <waybill@localhost>'),
  SECRET_KEY: unset(
    key,
    '32 bytes, base64: encrypts webhook secrets at rest, derives the token key. Unset: generated in `DATA_DIR`; required once `DATABASE_URL` is set',
  ),
  SECRET_KEY_PREVIOUS: withDefault(
    keyList,
    'further keys, separated by commas, that still open what they sealed: old ones, or the next one, while `SECRET_KEY` is being replaced',
    '',
  ),
  DELIVERY_TIMEOUT: withDefault(duration, 'time for the whole of one attempt', '15s'),
  RETRY_INITIAL_INTERVAL: withDefault(duration, 'wait before the first retry', '25s'),
  RETRY_COEFFICIENT: withDefault(
    number((value) => value >= 1 && value <= 10, 'a number from 1 to 10'),
    'each wait is the one before times this',
    '1.5',
  ),
  RETRY_MAX: withDefault(integer(0, 1_000), 'retries after the first attempt', '20'),
  RETRY_WINDOW: withDefault(duration, 'from the first attempt on; no attempt starts after its end', '48h'),
  DELIVERY_ALLOW_CIDRS: withDefault(
    cidrs,
    'address ranges exempt from the guard against private destinations; with nothing configured `127.0.0.0/8,::1/128`',
    '',
  ),
  DNS_SERVERS: withDefault(
    nameServers,
    'name servers used to look up receivers, as `address` or `address:port`, separated by commas; empty: the system’s',
    '',
  ),
  LOGIN_LIMIT_PER_ADDRESS: withDefault(
    integer(1, 1_000_000),
    'failed logins from one address in a quarter of an hour, counted for each e-shop, and once for all unknown keys',
    '300',
  ),
  MAX_CONNECTIONS: withDefault(
    integer(1, 1_000_000),
    'client connections to the API at the same time, per process',
    '5000',
  ),
  ESHOP_REQUESTS: withDefault(
    integer(1, 1_000_000),
    'requests of one e-shop under way at the same time, per process; any further one is answered with 429',
    '200',
  ),
  ESHOP_CONNECTIONS: withDefault(
    integer(1, MOST_CONNECTIONS),
    'requests of one e-shop that use the database at the same time; the others wait for their turn',
    '8',
  ),
  ESHOP_MIB_PER_SECOND: withDefault(
    integer(1, 1_000_000),
    'MiB per second that one e-shop may send and receive together, averaged over ten seconds; beyond that, requests are answered with 429',
    '32',
  ),
  TRUST_PROXY: withDefault(flag, 'a proxy in front sets `X-Forwarded-For`: believe it', 'false'),
  SHUTDOWN_GRACE: unset(
    duration,
    'how long a shutdown may take, whatever hangs; attempts under way are given this time to finish; unset: `DELIVERY_TIMEOUT` plus 25 seconds',
  ),
  SHIPPER_SERVICES_FILE: unset(text, 'JSON file that replaces the carriers and their services'),
  MARKETPLACES_FILE: unset(text, 'JSON file with further marketplaces'),
  LOG_LEVEL: withDefault(
    v.picklist(
      ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'],
      'must be fatal, error, warn, info, debug, trace or silent',
    ),
    'the least important log lines written',
    'info',
  ),
});

/** The values of all variables; undefined where one has no default and is not set. */
export type Settings = v.InferOutput<typeof variables>;

/** The configuration: the settings and what follows from several of them. */
export interface Config {
  readonly settings: Settings;
  readonly retryPolicy: RetryPolicy;
  /** Nothing outside is configured: everything runs here, with a demonstration e-shop. */
  readonly unconfigured: boolean;
  readonly deliveryAllowCidrs: readonly string[];
  /** For everything that has to be stopped together, in milliseconds. */
  readonly shutdownGraceMs: number;
}

/** To record the last attempts and answer the last requests, beyond the time of an attempt, in milliseconds. */
const GRACE_SLACK_MS = 25_000;

/** What the unconfigured start exempts, so that a receiver on the same machine can be tried. */
const LOOPBACK = ['127.0.0.0/8', '::1/128'];
/** Whose values no message repeats. */
const CONFIDENTIAL = ['SECRET_KEY', 'SECRET_KEY_PREVIOUS', 'TEMPORAL_API_KEY', 'DATABASE_URL', 'SMTP_URL'];

/** Where variables come from: `process.env`, or a test's own. */
type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Reads each variable by itself.
 * @throws ConfigError with one sentence naming the variable that is wrong
 */
export function readSettings(env: Environment): Settings {
  // An empty variable counts as unset: that is how compose files and CI systems say so.
  const written = Object.fromEntries(
    Object.entries(env).filter(([, value]) => value !== undefined && value !== ''),
  );
  const result = v.safeParse(variables, written, { abortEarly: true });
  if (!result.success) {
    const [issue] = result.issues;
    // Without what follows it where one of several values is wrong.
    const name = v.getDotPath(issue)?.split('.')[0] ?? '';
    const shown = CONFIDENTIAL.includes(name) ? '' : `, not ${JSON.stringify(written[name])}`;
    throw new ConfigError(`${name} ${issue.message}${shown}.`);
  }
  return result.output;
}

/** The retry policy that the settings say. */
export function retryPolicyOf(settings: Settings): RetryPolicy {
  return {
    initialIntervalMs: settings.RETRY_INITIAL_INTERVAL,
    coefficient: settings.RETRY_COEFFICIENT,
    maxRetries: settings.RETRY_MAX,
    windowMs: settings.RETRY_WINDOW,
    attemptTimeoutMs: settings.DELIVERY_TIMEOUT,
  };
}

/**
 * Reads the configuration of a process that serves, and checks what several variables say together.
 * @throws ConfigError with one sentence naming the variable that is wrong
 */
export function loadConfig(env: Environment): Config {
  const settings = readSettings(env);
  if (settings.DATABASE_URL !== undefined && settings.SECRET_KEY === undefined) {
    throw new ConfigError(
      'SECRET_KEY must be set once DATABASE_URL is set: 32 bytes in base64, e.g. from: openssl rand -base64 32.',
    );
  }
  if (settings.SECRET_KEY_PREVIOUS.length > 0 && settings.SECRET_KEY === undefined) {
    throw new ConfigError('SECRET_KEY must be set once SECRET_KEY_PREVIOUS is set.');
  }
  if (settings.ROLE !== 'all' && settings.DATABASE_URL === undefined) {
    throw new ConfigError(
      `DATABASE_URL must be set for ROLE=${settings.ROLE}: only ROLE=all brings its own Postgres.`,
    );
  }
  if (settings.ROLE === 'worker' && settings.TEMPORAL_ADDRESS === undefined) {
    throw new ConfigError(
      'TEMPORAL_ADDRESS must be set for ROLE=worker: only ROLE=all brings its own Temporal.',
    );
  }
  if ((settings.TEMPORAL_TLS_CERT_FILE === undefined) !== (settings.TEMPORAL_TLS_KEY_FILE === undefined)) {
    throw new ConfigError('TEMPORAL_TLS_CERT_FILE and TEMPORAL_TLS_KEY_FILE must be set together.');
  }
  if (settings.DELIVERY_TIMEOUT > settings.RETRY_WINDOW) {
    throw new ConfigError('DELIVERY_TIMEOUT must not be longer than RETRY_WINDOW.');
  }
  const unconfigured = settings.DATABASE_URL === undefined && settings.TEMPORAL_ADDRESS === undefined;
  const { DELIVERY_ALLOW_CIDRS: allowed } = settings;
  return {
    settings,
    unconfigured,
    deliveryAllowCidrs: unconfigured && allowed.length === 0 ? LOOPBACK : allowed,
    retryPolicy: retryPolicyOf(settings),
    shutdownGraceMs: settings.SHUTDOWN_GRACE ?? settings.DELIVERY_TIMEOUT + GRACE_SLACK_MS,
  };
}
