/** A setting of Node.js that many examples use, and that opens every connection to a man in the middle. */

/** @returns a warning for the start; null if certificates are checked */
export function uncheckedTls(env: Readonly<Record<string, string | undefined>>): string | null {
  if (env.NODE_TLS_REJECT_UNAUTHORIZED !== '0') return null;
  return 'TLS: NODE_TLS_REJECT_UNAUTHORIZED=0 is set, so no certificate is checked, of receivers and mail server as of Postgres: remove it, and name an authority of your own in NODE_EXTRA_CA_CERTS.';
}
