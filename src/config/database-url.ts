/** The address of a database: what its parameters may be (libpq's, where they mean something here). */
import * as v from 'valibot';
import { url } from './values.ts';

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

/** @returns what is wrong with the parameters of a URL, as the rest of a sentence; null: nothing */
function parameterProblem(text: string): string | null {
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
  v.check(
    (text) => !/^[a-z]+:\/\/[^/?]*,/.test(text),
    'must name one host: a virtual address or a proxy that follows the primary',
  ),
  url(['postgres:', 'postgresql:']),
  v.rawCheck(({ dataset, addIssue }) => {
    const message = dataset.typed && URL.canParse(dataset.value) ? parameterProblem(dataset.value) : null;
    if (message !== null) addIssue({ message });
  }),
);
