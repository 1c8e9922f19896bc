/**
 * The configuration: read from the environment, checked, and completed.
 *
 * Module config, which imports domain, lib. Begin: `variables.ts` has every variable.
 */
import * as v from 'valibot';
import type { RetryPolicy } from '../domain/retry-policy.ts';
import { UserError } from '../lib/user-error.ts';
import { CONFIDENTIAL, type Environment } from './secret-files.ts';
import { type Settings, variables } from './variables.ts';

export interface Config {
  readonly settings: Settings;
  readonly retryPolicy: RetryPolicy;
  /** Neither a database nor a Temporal is configured: both run here, with a demonstration e-shop. */
  readonly unconfigured: boolean;
  readonly deliveryAllowCidrs: readonly string[];
  /** The time to stop everything, in milliseconds. */
  readonly shutdownGraceMs: number;
}

/** Time beyond an attempt's time-out, to record the last attempts and answer the last requests, in milliseconds. */
const GRACE_SLACK_MS = 25_000;

/** Allowed by default on an unconfigured start, to try a receiver on the same machine. */
const LOOPBACK = ['127.0.0.0/8', '::1/128'];

/** The confidential variables that are set: name → value as written. */
export function confidentialValues(env: Environment): ReadonlyMap<string, string> {
  return new Map(CONFIDENTIAL.map((name) => [name, env[name] ?? ''] as const).filter(([, value]) => value));
}

/** Reads each variable on its own. @throws UserError with one sentence naming the invalid variable */
export function readSettings(env: Environment): Settings {
  // An empty list is a value; any other empty or blank variable is refused, lest it seem to have an effect. But by
  // their standard, empty variables of OpenTelemetry are unset.
  const written = Object.fromEntries(
    Object.entries(env)
      .map(([name, value]) => [name, value?.trim() === '' ? '' : value] as const)
      .filter(([name, value]) => value !== undefined && !(value === '' && name.startsWith('OTEL_'))),
  );
  const result = v.safeParse(variables, written, { abortEarly: true });
  if (!result.success) {
    const [issue] = result.issues;
    // The name without an index, if one of several values is wrong.
    const name = v.getDotPath(issue)?.split('.')[0] ?? '';
    const file = `${name}_FILE`;
    const isFromFile = CONFIDENTIAL.includes(name) && written[file] !== undefined;
    if (written[name] === '')
      throw new UserError(
        isFromFile
          ? `${file} must name a file that is not empty: leave it out for the default of ${name}.`
          : `${name} must not be empty: leave it out for its default.`,
      );
    const valueText = CONFIDENTIAL.includes(name) ? '' : `, not ${JSON.stringify(written[name])}`;
    throw new UserError(`${isFromFile ? `${name}, from ${file},` : name} ${issue.message}${valueText}.`);
  }
  return result.output;
}

export function retryPolicyOf(settings: Settings): RetryPolicy {
  return {
    initialIntervalMs: settings.RETRY_INITIAL_INTERVAL,
    coefficient: settings.RETRY_COEFFICIENT,
    maxRetries: settings.RETRY_MAX,
    windowMs: settings.RETRY_WINDOW,
    attemptTimeoutMs: settings.DELIVERY_TIMEOUT,
  };
}

/** The contradictions between variables, each as a sentence. */
function* contradictions(settings: Settings): Generator<string, void> {
  const { DATABASE_URL, SECRET_KEY, ROLE } = settings;
  if (DATABASE_URL !== undefined && SECRET_KEY === undefined)
    yield 'SECRET_KEY must be set if DATABASE_URL is set: 32 bytes in base64, e.g. from: openssl rand -base64 32.';
  if (settings.DATABASE_DIRECT_URL !== undefined && DATABASE_URL === undefined)
    yield 'DATABASE_URL must be set if DATABASE_DIRECT_URL is set.';
  if (settings.SECRET_KEY_PREVIOUS.length > 0 && SECRET_KEY === undefined)
    yield 'SECRET_KEY must be set if SECRET_KEY_PREVIOUS is set.';
  if (ROLE !== 'all' && DATABASE_URL === undefined)
    yield `DATABASE_URL must be set for ROLE=${ROLE}: only ROLE=all brings its own Postgres.`;
  if (ROLE === 'worker' && settings.TEMPORAL_ADDRESS === undefined)
    yield 'TEMPORAL_ADDRESS must be set for ROLE=worker: only ROLE=all brings its own Temporal.';
  if ((settings.TEMPORAL_TLS_CERT_FILE === undefined) !== (settings.TEMPORAL_TLS_KEY_FILE === undefined))
    yield 'TEMPORAL_TLS_CERT_FILE and TEMPORAL_TLS_KEY_FILE must be set together.';
  if (settings.DELIVERY_TIMEOUT > settings.RETRY_WINDOW)
    yield 'DELIVERY_TIMEOUT must not be longer than RETRY_WINDOW.';
}

/**
 * Reads the configuration of a server process, and checks variables against each other.
 * @throws UserError with one sentence naming the invalid variable
 */
export function loadConfig(env: Environment): Config {
  const settings = readSettings(env);
  for (const problem of contradictions(settings)) throw new UserError(problem);
  const unconfigured = settings.DATABASE_URL === undefined && settings.TEMPORAL_ADDRESS === undefined;
  return {
    settings,
    unconfigured,
    deliveryAllowCidrs:
      unconfigured && env.DELIVERY_ALLOW_CIDRS === undefined ? LOOPBACK : settings.DELIVERY_ALLOW_CIDRS,
    retryPolicy: retryPolicyOf(settings),
    shutdownGraceMs: settings.SHUTDOWN_GRACE ?? settings.DELIVERY_TIMEOUT + GRACE_SLACK_MS,
  };
}
