/** The address of a database: what its parameters may be (libpq's, where they mean something here). */
import * as v from 'valibot';

/** Parameters that are honoured, with the values of those that have few. */
const PARAMETERS: Readonly<Record<string, readonly string[] | null>> = {
  application_name: null,
  connect_timeout: null,
  options: null,
  sslmode: ['disable', 'allow', 'prefer', 'require', 'verify-ca', 'verify-full'],
  sslnegotiation: ['postgres', 'direct'],
  sslrootcert: ['system'],
  // Every connection has to take writes.
  target_session_attrs: ['any', 'read-write', 'primary'],
};

const HINTS: Readonly<Record<string, string>> = {
  pgbouncer: '; a pooler is noticed without it, and DATABASE_DIRECT_URL names the server behind it',
  ssl_mode: '; sslmode is meant',
};

/** @returns why this cannot be used as the address of a database, as the rest of a sentence; null: it can */
function databaseUrlProblem(text: string): string | null {
  if (/^[a-z]+:\/\/[^/?]*,/.test(text))
    return 'must name one host: a virtual address or a proxy that follows the primary';
  if (!URL.canParse(text) || !['postgres:', 'postgresql:'].includes(new URL(text).protocol))
    return 'must be a URL beginning with postgres:// or postgresql://';
  for (const [name, value] of new URL(text).searchParams) {
    const values = PARAMETERS[name];
    if (values === undefined) return `must not have the parameter ${name}${HINTS[name] ?? ''}`;
    if (values !== null && !values.includes(value)) return `must have one of ${values.join(', ')} as ${name}`;
  }
  return null;
}

/** The address of a database, as a schema. */
export const databaseUrl = v.pipe(
  v.string(),
  v.rawCheck(({ dataset, addIssue }) => {
    const message = dataset.typed ? databaseUrlProblem(dataset.value) : null;
    if (message !== null) addIssue({ message });
  }),
);
