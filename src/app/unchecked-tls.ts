/** A setting of Node.js that many examples name, and that leaves every connection open to whoever stands between. */

/** @returns what to say at the start; null where certificates are checked */
export function uncheckedTls(env: Readonly<Record<string, string | undefined>>): string | null {
  if (env.NODE_TLS_REJECT_UNAUTHORIZED !== '0') return null;
  return 'TLS: NODE_TLS_REJECT_UNAUTHORIZED=0 is set, so no certificate is checked, of receivers and mail server as of Postgres: remove it, and name an authority of your own in NODE_EXTRA_CA_CERTS.';
}
