/** Confidential variables from files, as Docker and Kubernetes mount them: no list of variables or processes shows those. */
import { readFileSync } from 'node:fs';
import { ConfigError } from './config-error.ts';

/** Variables whose values never appear in a message; each may also come from a file. */
export const CONFIDENTIAL = [
  'SECRET_KEY',
  'SECRET_KEY_PREVIOUS',
  'TEMPORAL_API_KEY',
  'DATABASE_URL',
  'DATABASE_DIRECT_URL',
  'SMTP_URL',
  'OUTBOUND_PROXY',
  'OTEL_EXPORTER_OTLP_HEADERS',
];

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * The variables, where `SECRET_KEY_FILE` names a file with the value of `SECRET_KEY`, and so for each confidential one.
 * @throws ConfigError with one sentence naming the variable, if both are set or the file cannot be read
 */
export function withSecretFiles(env: Environment): Environment {
  const read = CONFIDENTIAL.flatMap((name) => {
    const variable = `${name}_FILE`;
    const path = env[variable];
    if (path === undefined) return [];
    if (env[name] !== undefined) throw new ConfigError(`${name} and ${variable} must not both be set.`);
    try {
      return [[name, readFileSync(path, 'utf8').trim()] as const];
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      throw new ConfigError(`${variable} must name a file that can be read: ${reason}.`);
    }
  });
  return { ...env, ...Object.fromEntries(read) };
}
