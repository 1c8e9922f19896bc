/** Signing in and out, with the users of the API and the same limits. */
import { createPlaces } from '../api/budget/places.ts';
import { clientAddresses } from '../api/client-address.ts';
import { CONCURRENT_PASSWORD_CHECKS, credentialCheck } from '../api/credentials.ts';
import { acceptFormOnce, beginSession, endSession, findSession } from '../db/console/sessions.ts';
import { Problem } from '../domain/problem.ts';
import { MAX_USERNAME_CHARS } from '../domain/role.ts';
import { asset } from './assets.ts';
import type { Authenticator, ConsoleApp, ConsoleDeps } from './deps.ts';
import { Input } from './form-fields.tsx';
import { ownForms } from './forms.ts';
import { Csrf, Document, html } from './layout.tsx';
import { CONSOLE, csrfToken, pageOf, type SessionCookies, sessionCookies } from './session.ts';

/** The page after the sign-in: one of the console's, as a browser asks for it, so never with control characters. */
function pathOf(next = ''): string {
  return (/\p{Cc}/u.test(next) ? null : pageOf(next)) ?? CONSOLE;
}

/** The number of no e-shop: it finds nobody. */
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
  const cookies = sessionCookies(deps);
  return {
    routes: (app) => signInRoutes(app, deps, cookies),
    sessionOf: cookies.read,
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

/** How long a sign-in waits for its turn, in milliseconds. */
const SIGN_IN_QUEUE_TIMEOUT_MS = 10_000;

function signInRoutes(app: ConsoleApp, deps: ConsoleDeps, cookies: SessionCookies): void {
  const { sql, trustProxy, log } = deps;
  const trial = deps.publicUrl === null;
  const check = credentialCheck(deps);
  const addressOf = clientAddresses(trustProxy, log);
  const places = createPlaces(
    CONCURRENT_PASSWORD_CHECKS,
    SIGN_IN_QUEUE_TIMEOUT_MS,
    'Too many sign-ins at once. Try again.',
  );

  app.get('/sign-in', (c) =>
    c.html(
      html(<SignIn trial={trial} token={csrfToken(cookies.before(c))} next={pathOf(c.req.query('next'))} />),
    ),
  );

  app.post('/sign-in', ownForms(cookies.readBefore), async (c) => {
    const { eshop, username = '', password = '', next } = c.var.form;
    const refuse = (status: 401 | 429, refused: string) => {
      const token = csrfToken(cookies.before(c));
      const page = <SignIn {...{ token, trial, next: pathOf(next), refused, eshop, username }} />;
      return c.html(html(page), status);
    };
    const address = addressOf(c);
    try {
      // The number as given: whether such an e-shop exists must affect only the success.
      const attempt = {
        eshopId: eshopNumber(eshop),
        byNumber: true,
        username: username.slice(0, MAX_USERNAME_CHARS),
        address,
      };
      const user = await places.run(address, () => check(attempt, password.slice(0, 1000)));
      if (user === null) return refuse(401, 'The e-shop, user name or password is incorrect.');
      const former = cookies.read(c);
      if (former !== undefined) await endSession(sql, former);
      await beginSession(sql, cookies.begin(c), user);
      return c.redirect(pathOf(next), 303);
    } catch (error) {
      if (!(error instanceof Problem) || error.status !== 429) throw error;
      for (const [name, value] of Object.entries(error.headers)) c.header(name, value);
      return refuse(429, error.message);
    }
  });

  app.post('/sign-out', ownForms(cookies.read), async (c) => {
    const id = cookies.read(c);
    if (id !== undefined) await endSession(sql, id);
    cookies.end(c);
    return c.redirect(`${CONSOLE}/sign-in`, 303);
  });
}
