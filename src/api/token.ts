/** The tokens of logins: JWT, HS256, one hour. */
import { errors, jwtVerify, SignJWT } from 'jose';
import * as v from 'valibot';
import { roles } from '../domain/role.ts';
import type { Session } from './deps.ts';

/** How long a token is good for, in seconds. */
export const TOKEN_LIFETIME_SECONDS = 3600;

const ISSUER = 'waybill';
const AUDIENCE = 'waybill-api';

const Claims = v.object({
  sub: v.pipe(v.string(), v.regex(/^\d+$/), v.transform(Number)),
  eshop: v.pipe(v.number(), v.integer()),
  name: v.string(),
  role: v.picklist(roles),
  // Tokens issued before passwords had versions have none.
  pv: v.optional(v.pipe(v.number(), v.integer()), 1),
  exp: v.number(),
});
type VerifiedClaims = v.InferOutput<typeof Claims>;

interface TokenContent {
  readonly session: Session;
  /** As in the user's row when the password was verified: a token ends with its password. */
  readonly passwordVersion: number;
}

/** @param now the time of issue */
export function signToken(
  key: Uint8Array,
  { session, passwordVersion }: TokenContent,
  now: Date,
): Promise<string> {
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

/** The claims of a token that this key signed, or null. */
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

/** Of the tokens whose signatures were verified lately, so many are remembered. */
const MAX_CACHED_TOKENS = 1_000;

/** Verified tokens with their claims, by the keys they were verified with; the oldest first. */
const verified = new WeakMap<readonly Uint8Array[], Map<string, VerifiedClaims>>();

/** The claims of a token that one of these keys signed, or null; whether it is over is not asked. */
async function verifiedClaims(keys: readonly Uint8Array[], token: string): Promise<VerifiedClaims | null> {
  const known = verified.get(keys) ?? new Map<string, VerifiedClaims>();
  verified.set(keys, known);
  const found = known.get(token);
  if (found !== undefined) return found;
  for (const key of keys) {
    const claims = await claimsOf(key, token);
    if (claims === null) continue;
    known.set(token, claims);
    const [oldest] = known.keys();
    if (known.size > MAX_CACHED_TOKENS && oldest !== undefined) known.delete(oldest);
    return claims;
  }
  return null;
}

/**
 * What a token says, or null when it is not one of ours, changed, or over. Whether its user is still there, only the
 * database knows.
 */
export async function verifyToken(keys: readonly Uint8Array[], token: string): Promise<TokenContent | null> {
  const claims = await verifiedClaims(keys, token);
  // A signature stays good; the time does not.
  if (claims === null || claims.exp <= Math.floor(Date.now() / 1000)) return null;
  const { sub, eshop, name, role, pv } = claims;
  return { session: { userId: sub, eshopId: eshop, username: name, role }, passwordVersion: pv };
}
