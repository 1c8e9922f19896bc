/**
 * The tokens of logins: JWT, HS256, one hour.
 * @module
 */
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
});

/**
 * Signs a token for a session.
 * @param now the time of issue
 */
export function signToken(key: Uint8Array, session: Session, now: Date): Promise<string> {
  const issuedAt = Math.floor(now.getTime() / 1000);
  return new SignJWT({ eshop: session.eshopId, name: session.username, role: session.role })
    .setProtectedHeader({ alg: 'HS256', typ: 'JWT' })
    .setSubject(String(session.userId))
    .setIssuer(ISSUER)
    .setAudience(AUDIENCE)
    .setIssuedAt(issuedAt)
    .setExpirationTime(issuedAt + TOKEN_LIFETIME_SECONDS)
    .sign(key);
}

/** The session of a token, or null when it is not one of ours, changed, or over. */
export async function verifyToken(key: Uint8Array, token: string): Promise<Session | null> {
  try {
    const { payload } = await jwtVerify(token, key, {
      algorithms: ['HS256'],
      issuer: ISSUER,
      audience: AUDIENCE,
      requiredClaims: ['exp', 'sub'],
    });
    const claims = v.safeParse(Claims, payload);
    if (!claims.success) return null;
    const { sub, eshop, name, role } = claims.output;
    return { userId: sub, eshopId: eshop, username: name, role };
  } catch (error) {
    if (error instanceof errors.JOSEError) return null;
    throw error;
  }
}
