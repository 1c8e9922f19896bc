/** The address of a database, with the parameters that it may have (those of libpq that mean something here). */
import * as v from 'valibot';
import { url } from './values.ts';

/** The parameters supported, with their values if these are few. */
const PARAMETERS: Readonly<Record<string, readonly string[] | null>> = {
  application_name: null,
  connect_timeout: null,
  options: null,
  sslmode: ['disable', 'allow', 'prefer', 'require', 'verify-ca', 'verify-full'],
  sslnegotiation: ['postgres', 'direct'],
  sslrootcert: ['system'],
  // Every connection must accept writes.
  target_session_attrs: ['any', 'read-write', 'primary'],
};

const HINTS: Readonly<Record<string, string>> = {
  channel_binding: '; leave it out: logins are not bound to the channel',
  pgbouncer: '; a pooler is detected without it, and DATABASE_DIRECT_URL names the server behind it',
  ssl_mode: '; use sslmode',
  sslrootcert: '; name the file of your own authority in NODE_EXTRA_CA_CERTS',
};

/** @returns the problem with the parameters of a URL, as the rest of a sentence; null if there is none */
function parameterProblem(text: string): string | null {
  for (const [name, value] of new URL(text).searchParams) {
    const values = PARAMETERS[name];
    if (values === undefined) return `must not have the parameter ${name}${HINTS[name] ?? ''}`;
    if (values !== null && !values.includes(value))
      return `must have one of ${values.join(', ')} as ${name}${HINTS[name] ?? ''}`;
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
