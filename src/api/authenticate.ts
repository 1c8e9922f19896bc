/** Checks the API key and token of every request, and roles (docs/interface.md, A1, A4, A5 and A6). */
import type { MiddlewareHandler } from 'hono';
import { createMayUse } from '../db/accounts/users.ts';
import { clockFrom } from '../db/clock.ts';
import { forbidden, unauthorized } from '../domain/problem.ts';
import type { Role } from '../domain/role.ts';
import type { ApiDeps, ApiEnv } from './deps.ts';
import { createTokenVerifier } from './token.ts';

export const REFUSED = 'The API key or token is invalid, or the token has expired.';

/**
 * Requires `x-api-key` and `authorization` of the same e-shop and sets `session`, `clock` and `stillAllowed`.
 * One query per request, without a cache: a revocation takes effect with the next request.
 * @throws Problem 401; the same message for every wrong value, so that guessing reveals nothing
 */
export function authenticate({ sql, keys }: ApiDeps): MiddlewareHandler<ApiEnv> {
  const mayUse = createMayUse(sql);
  const verifyToken = createTokenVerifier(keys.tokenKeys);
  return async (c, next) => {
    const signedIn = c.env?.signedIn;
    if (signedIn !== undefined) {
      c.set('session', signedIn.session);
      c.set('clock', clockFrom(signedIn.now));
      c.set('stillAllowed', signedIn.stillAllowed);
      return await next();
    }
    const apiKey = c.req.header('x-api-key') ?? '';
    const authorization = c.req.header('authorization') ?? '';
    if (apiKey === '' || authorization === '') {
      throw unauthorized('Both headers, x-api-key and authorization, are required.');
    }
    // Accepts the scheme in upper or lower case, and the bare token.
    const token = await verifyToken(authorization.replace(/^bearer\s+/i, '').trim());
    if (token === null) throw unauthorized(REFUSED);
    const allowedAt = () => mayUse(apiKey, token.session, token.passwordVersion);
    const now = await allowedAt();
    if (now === null) throw unauthorized(REFUSED);
    c.set('session', token.session);
    c.set('clock', clockFrom(now));
    c.set('stillAllowed', async () => (await allowedAt()) !== null);
    await next();
  };
}

/**
 * Requires a role, after {@link authenticate}.
 * @throws Problem 403
 */
export function requireRole(role: Role): MiddlewareHandler<ApiEnv> {
  return async (c, next) => {
    if (c.get('session').role !== role)
      throw forbidden(`This operation requires a user with the role ${role}.`);
    await next();
  };
}
