/** The TLS settings in the address of a database, in libpq's terms (`sslmode`, `sslnegotiation`, `sslrootcert`). */

export interface TlsMode {
  /** `direct`: without asking first (Postgres 17). `preferred`: only if the server supports it. */
  readonly mode: 'off' | 'preferred' | 'required' | 'direct';
  /** Whether the server's certificate has to be issued by a trusted authority for its name. */
  readonly verified: boolean;
}

/** Modes that encrypt without checking the certificate. */
const UNVERIFIED = ['allow', 'prefer', 'require'];

/** @param url a `postgres://` address; unless it says otherwise, TLS is off */
export function tlsModeOf(url: string): TlsMode {
  const { searchParams } = new URL(url);
  const direct = searchParams.get('sslnegotiation') === 'direct';
  const system = searchParams.get('sslrootcert') === 'system';
  const requested = system ? 'verify-full' : (searchParams.get('sslmode') ?? 'disable');
  if (requested === 'disable') return { mode: 'off', verified: false };
  const mode = direct ? 'direct' : requested === 'prefer' ? 'preferred' : 'required';
  return { mode, verified: !UNVERIFIED.includes(requested) };
}
