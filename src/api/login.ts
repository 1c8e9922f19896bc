/** `POST /users/login`: name and password of a user for a token. */
import type { Hono } from 'hono';
import * as v from 'valibot';
import type { Turns } from '../concurrency/turns.ts';
import { findEshopByApiKey } from '../db/accounts/eshops.ts';
import {
  component,
  described,
  recordNumber,
  strictComponent,
  text,
  time,
  wholeNumber,
} from '../domain/fields.ts';
import { unauthorized } from '../domain/problem.ts';
import { MAX_USERNAME_CHARS, roles } from '../domain/role.ts';
import { ANYBODY } from './budget/budget.ts';
import { clientAddresses } from './client-address.ts';
import { credentialCheck, passwordPlaces } from './credentials.ts';
import type { ApiDeps, ApiEnv } from './deps.ts';
import { describeOperation } from './describe.ts';
import { ok } from './envelope.ts';
import { signToken, TOKEN_LIFETIME_SECONDS } from './token.ts';
import { body } from './validate.ts';

const Credentials = strictComponent('Credentials', {
  username: text(MAX_USERNAME_CHARS, 1),
  password: text(1000, 1),
});

const Login = component('Login', {
  token: described(v.string(), 'A JWT; send it as `authorization: Bearer <token>`.'),
  tokenType: v.literal('Bearer'),
  expiresIn: described(wholeNumber(), 'Seconds.'),
  expiresAt: time(),
  user: v.object({ id: recordNumber(), username: v.string(), role: v.picklist(roles) }),
});

/**
 * The login, mounted before the authentication.
 * @param turn for requests without a login
 */
export function loginRoutes(app: Hono<ApiEnv>, deps: ApiDeps, turn: Turns['run']): void {
  const { sql, keys, trustProxy, log } = deps;
  const addressOf = clientAddresses(trustProxy, log);
  const check = credentialCheck(deps);
  const places = passwordPlaces('Too many logins at once. Try again.');

  app.post(
    '/users/login',
    describeOperation('Authentication', {
      id: 'login',
      summary: 'Log in',
      description:
        'Returns a token for a user of the e-shop that `x-api-key` belongs to. The token is a JWT ' +
        '(HS256) with issuer, audience, e-shop and role, valid for one hour.\n\nA wrong key, name or password gets the same 401, ' +
        'after the same time. After ten failures for one e-shop, user name and address: 429 with `Retry-After`, until a ' +
        'quarter of an hour after the first of them; a success resets the count. A looser limit (300 unless configured otherwise) applies ' +
        'to each address and e-shop, and once more to each address for all unknown keys together. Forwarded addresses count only if the ' +
        'operator has configured the proxy as trusted. The body may be at most 16 KiB and needs a `Content-Length`.',
      data: Login,
      message: 'Logged in.',
      token: false,
      errors: {
        411: 'the body is sent chunked, without `Content-Length`.',
        429: 'too many failed logins, or too many at once; `Retry-After` says when to try again.',
      },
    }),
    (c, next) => places.run(addressOf(c), () => turn(ANYBODY, next)),
    body(Credentials),
    async (c) => {
      const { username, password } = c.req.valid('json');
      const eshopId = (await findEshopByApiKey(sql, c.req.header('x-api-key') ?? '')) ?? 0;
      const user = await check({ eshopId, byNumber: false, username, address: addressOf(c) }, password);
      if (user === null) throw unauthorized('The API key, user name or password is incorrect.');

      const now = new Date();
      const { id, role, passwordVersion } = user;
      const session = { eshopId, userId: id, username: user.username, role };
      return ok(c, 'Logged in.', {
        token: await signToken(keys.tokenKey, { session, passwordVersion }, now),
        tokenType: 'Bearer',
        expiresIn: TOKEN_LIFETIME_SECONDS,
        expiresAt: new Date((Math.floor(now.getTime() / 1000) + TOKEN_LIFETIME_SECONDS) * 1000).toISOString(),
        user: { id, username: user.username, role },
      });
    },
  );
}
