/** Signing in and out, with the users of the API and the same limits. */
import type { Context } from 'hono';
import { clientAddresses } from '../api/client-address.ts';
import { credentialCheck, passwordPlaces } from '../api/credentials.ts';
import {
  acceptFormOnce,
  beginSession,
  endSession,
  findSession,
  SESSION_HOURS,
} from '../db/console/sessions.ts';
import { Problem } from '../domain/problem.ts';
import { MAX_USERNAME_CHARS } from '../domain/role.ts';
import { asset } from './assets.ts';
import type { Authenticator, ConsoleApp, ConsoleDeps, ConsoleEnv } from './deps.ts';
import { Input } from './form-fields.tsx';
import { ownForms } from './forms.ts';
import { Csrf, Document, html } from './layout.tsx';
import { CONSOLE, cookieOf, csrfToken, newId, pageOf } from './session.ts';

const SESSION = 'waybill_session';
/** The cookie before sign-in: it ties the form to the browser that requested it. */
const BEFORE = 'waybill_sign_in';

/** The page after the sign-in: one of the console, normalized as by a browser, so without control characters. */
function pathOf(next = ''): string {
  return (/\p{Cc}/u.test(next) ? null : pageOf(next)) ?? CONSOLE;
}

/** A number that no e-shop has. */
const NO_ESHOP = 0;

function eshopNumber(text: string | undefined): number {
  return text !== undefined && /^\d{1,9}$/.test(text.trim()) ? Number(text) : NO_ESHOP;
}

function SignIn(props: {
  token: string;
  /** Whether no public URL is configured: then it is a trial on this machine. */
  trial: boolean;
  next: string;
  refused?: string;
  eshop?: string | undefined;
  username?: string | undefined;
}) {
  const { token, trial, next, refused, eshop, username } = props;
  return (
    <Document title="Sign in">
      <div class="sign-in">
        <main>
          <p class="brand">
            <img src={asset('icon.svg')} alt="" width="28" height="28" />
            Waybill
          </p>
          <form method="post" action={`${CONSOLE}/sign-in`} class="card">
            <h1>Sign in</h1>
            <p class="quiet">Use your API user name and password.</p>
            {refused === undefined ? null : (
              <p class="note bad" role="alert">
                {refused}
              </p>
            )}
            <Csrf token={token} />
            <input type="hidden" name="next" value={next} />
            <Input
              name="eshop"
              label="E-shop number"
              inputmode="numeric"
              required
              value={eshop}
              autocomplete="organization"
            />
            <Input
              name="username"
              label="User name"
              required
              value={username}
              maxlength={MAX_USERNAME_CHARS}
              autocomplete="username"
              autocapitalize="none"
              spellcheck={false}
            />
            <Input
              name="password"
              label="Password"
              type="password"
              required
              maxlength={1000}
              autocomplete="current-password"
            />
            <button type="submit" class="main">
              Sign in
            </button>
          </form>
          <p class="quiet small">
            You get all three from the operator of the warehouse
            {trial ? '; Waybill prints those of the demonstration e-shop when it starts' : null}. The API is
            described in the <a href="/docs">documentation</a>.
          </p>
        </main>
      </div>
    </Document>
  );
}

export function userAuthenticator(deps: ConsoleDeps): Authenticator {
  return {
    routes: (app) => signInRoutes(app, deps),
    sessionOf: cookieOf(deps, SESSION).read,
    async authenticate(id, seen) {
      const found = await findSession(deps.sql, id, seen);
      if (found === null) return null;
      const { eshops, now, ...user } = found;
      return { user, eshops, operator: false, now };
    },
    acceptFormOnce: (id, form) => acceptFormOnce(deps.sql, id, form),
    unauthenticated(c) {
      const { pathname, search } = new URL(c.req.url);
      const next = c.req.method === 'GET' ? `?${new URLSearchParams({ next: `${pathname}${search}` })}` : '';
      return c.redirect(`${CONSOLE}/sign-in${next}`, 303);
    },
  };
}

function signInRoutes(app: ConsoleApp, deps: ConsoleDeps): void {
  const { sql, trustProxy, log } = deps;
  const trial = deps.publicUrl === null;
  const check = credentialCheck(deps);
  const addressOf = clientAddresses(trustProxy, log);
  const places = passwordPlaces('Too many sign-ins at once. Try again.');
  const session = cookieOf(deps, SESSION);
  const before = cookieOf(deps, BEFORE);
  /** The id of the form's browser, created if it has none. */
  const browserOf = (c: Context<ConsoleEnv>) => {
    const existing = before.read(c);
    if (existing !== undefined && /^[\w-]{43}$/.test(existing)) return existing;
    const id = newId();
    before.write(c, id);
    return id;
  };

  app.get('/sign-in', (c) =>
    c.html(html(<SignIn trial={trial} token={csrfToken(browserOf(c))} next={pathOf(c.req.query('next'))} />)),
  );

  app.post('/sign-in', ownForms(before.read), async (c) => {
    const { eshop, username = '', password = '', next } = c.var.form;
    const refuse = (status: 401 | 429, refused: string) => {
      const token = csrfToken(browserOf(c));
      const page = <SignIn {...{ token, trial, next: pathOf(next), refused, eshop, username }} />;
      return c.html(html(page), status);
    };
    const address = addressOf(c);
    try {
      // The number as typed: whether such an e-shop exists must affect only the success.
      const attempt = {
        eshopId: eshopNumber(eshop),
        byNumber: true,
        username: username.slice(0, MAX_USERNAME_CHARS),
        address,
      };
      const user = await places.run(address, () => check(attempt, password.slice(0, 1000)));
      if (user === null) return refuse(401, 'The e-shop, user name or password is incorrect.');
      const former = session.read(c);
      if (former !== undefined) await endSession(sql, former);
      // A new id with every sign-in: one planted by an attacker is useless.
      const id = newId();
      session.write(c, id, { maxAge: SESSION_HOURS * 3600 });
      before.remove(c);
      await beginSession(sql, id, user);
      return c.redirect(pathOf(next), 303);
    } catch (error) {
      if (!(error instanceof Problem) || error.status !== 429) throw error;
      for (const [name, value] of Object.entries(error.headers)) c.header(name, value);
      return refuse(429, error.message);
    }
  });

  app.post('/sign-out', ownForms(session.read), async (c) => {
    const id = session.read(c);
    if (id !== undefined) await endSession(sql, id);
    session.remove(c);
    return c.redirect(`${CONSOLE}/sign-in`, 303);
  });
}
