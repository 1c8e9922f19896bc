/** The tokens of logins: JWT, HS256, one hour. */
import { errors, jwtVerify, SignJWT } from 'jose';
import * as v from 'valibot';
import { roles } from '../domain/role.ts';
import { setNewest } from '../lib/set-newest.ts';
import type { Session } from './deps.ts';

/** The lifetime of a token, in seconds. */
export const TOKEN_LIFETIME_SECONDS = 3600;

const ISSUER = 'waybill';
const AUDIENCE = 'waybill-api';

const Claims = v.object({
  sub: v.pipe(v.string(), v.regex(/^\d+$/), v.transform(Number)),
  eshop: v.pipe(v.number(), v.integer()),
  name: v.string(),
  role: v.picklist(roles),
  pv: v.pipe(v.number(), v.integer()),
  exp: v.number(),
});
type VerifiedClaims = v.InferOutput<typeof Claims>;

interface TokenContent {
  readonly session: Session;
  /** As in the user's row when the password was verified: a token expires with its password. */
  readonly passwordVersion: number;
}

/** @param now the time of issue */
export function signToken(key: Uint8Array, { session, passwordVersion }: TokenContent, now: Date) {
  const issuedAt = Math.floor(now.getTime() / 1000);
  const { eshopId: eshop, username: name, role } = session;
  return new SignJWT({ eshop, name, role, pv: passwordVersion })
    .setProtectedHeader({ alg: 'HS256', typ: 'JWT' })
    .setSubject(String(session.userId))
    .setIssuer(ISSUER)
    .setAudience(AUDIENCE)
    .setIssuedAt(issuedAt)
    .setExpirationTime(issuedAt + TOKEN_LIFETIME_SECONDS)
    .sign(key);
}

async function claimsOf(key: Uint8Array, token: string): Promise<VerifiedClaims | null> {
  try {
    const { payload } = await jwtVerify(token, key, {
      algorithms: ['HS256'],
      issuer: ISSUER,
      audience: AUDIENCE,
      requiredClaims: ['exp', 'sub'],
    });
    const claims = v.safeParse(Claims, payload);
    return claims.success ? claims.output : null;
  } catch (error) {
    if (error instanceof errors.JOSEError) return null;
    throw error;
  }
}

/** The maximum number of recently verified tokens that are remembered. */
const MAX_CACHED_TOKENS = 1_000;

/** @param keys any of which may have signed a token */
export function createTokenVerifier(keys: readonly Uint8Array[]) {
  /** The claims of verified tokens, oldest first. */
  const verified = new Map<string, VerifiedClaims>();

  async function signedClaims(token: string): Promise<VerifiedClaims | null> {
    const claims = verified.get(token);
    if (claims !== undefined) return claims;
    for (const key of keys) {
      const claims = await claimsOf(key, token);
      if (claims === null) continue;
      setNewest(verified, token, claims, MAX_CACHED_TOKENS);
      return claims;
    }
    return null;
  }

  /**
   * The content of a token; null if it was not issued here, was altered, or has expired. Only the database knows
   * whether its user still exists.
   */
  return async (token: string): Promise<TokenContent | null> => {
    const claims = await signedClaims(token);
    // The signature stays valid; the time does not.
    if (claims === null || claims.exp <= Math.floor(Date.now() / 1000)) return null;
    const { sub, eshop, name, role, pv } = claims;
    return { session: { userId: sub, eshopId: eshop, username: name, role }, passwordVersion: pv };
  };
}
