/** Confidential variables from files, as Docker and Kubernetes mount them: no list of variables shows these. */
import { readFileSync, statSync } from 'node:fs';
import { UserError } from '../lib/user-error.ts';

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
/** Not the headers of a collector: OpenTelemetry reads that variable itself. */
const FROM_FILES = CONFIDENTIAL.filter((name) => name !== 'OTEL_EXPORTER_OTLP_HEADERS');

export type Environment = Readonly<Record<string, string | undefined>>;

/**
 * The variables, where `SECRET_KEY_FILE` names a file with the value of `SECRET_KEY`, and so on for the others.
 * @throws UserError with one sentence naming the variable, if both are set or the file cannot be read
 */
export function withSecretFiles(env: Environment): Environment {
  const read = FROM_FILES.flatMap((name) => {
    const variable = `${name}_FILE`;
    const path = env[variable];
    if (path === undefined) return [];
    if (env[name] !== undefined) throw new UserError(`${name} and ${variable} must not both be set.`);
    return [[name, contentsOf(variable, path)] as const];
  });
  return { ...env, ...Object.fromEntries(read) };
}

/** The path is not shown: it may be the value itself, put there by mistake. */
function contentsOf(variable: string, path: string): string {
  const refused = (why: string) =>
    new UserError(`${variable} must name a file that can be read (${why}): it holds a path, not the value.`);
  try {
    // Reading a pipe or a device might never end.
    if (!statSync(path).isFile()) throw refused('not a file');
    return readFileSync(path, 'utf8').trim();
  } catch (error) {
    if (error instanceof UserError) throw error;
    throw refused(error instanceof Error && 'code' in error ? String(error.code) : 'unreadable');
  }
}
