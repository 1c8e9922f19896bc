/**
 * Operators sign in by a link that opens once, on this machine. It ties the browser to the command, which can only be
 * started with the keys of the installation.
 */
import { createHash, timingSafeEqual } from 'node:crypto';
import type { Context, MiddlewareHandler } from 'hono';
import { deleteCookie, getCookie, setCookie } from 'hono/cookie';
import { allEshops } from '../../db/console/eshops.ts';
import { SESSION_HOURS } from '../../db/console/sessions.ts';
import { forbidden, Problem } from '../../domain/problem.ts';
import { isLocalHost } from '../../lib/local-host.ts';
import type { Authenticator, ConsoleApp, ConsoleDeps, ConsoleEnv } from '../deps.ts';
import { ownForms } from '../forms.ts';
import { respondPlain } from '../layout.tsx';
import { ALL, CONSOLE, newId } from '../session.ts';

/** Not the users' cookie, and one per port: a browser may have several consoles open, and cookies ignore ports. */
function cookieName(c: Context<ConsoleEnv>): string {
  return `waybill_operator_${/:(\d+)$/.exec(c.req.header('host') ?? '')?.[1] ?? '80'}`;
}
const ENTER = '/enter';

const hashOf = (text: string) => createHash('sha256').update(text).digest();

/** @throws Problem 403 for a request with a host name that is not this machine's, or from a page of another site */
const guard: MiddlewareHandler<ConsoleEnv> = async (c, next) => {
  if (!isLocalHost(c.req.header('host')))
    throw forbidden('Open this console at 127.0.0.1 or localhost, with the link that the command printed.');
  const site = c.req.header('sec-fetch-site');
  const isSameSite = site === undefined || site === 'same-origin' || site === 'none';
  if (!isSameSite && c.req.path !== `${CONSOLE}${ENTER}`)
    throw forbidden('This request did not come from a page of this console.');
  await next();
};

/**
 * An authenticator, and the path of the link that opens it.
 * @param by the name of the person at this terminal, under which actions are recorded
 */
export function operatorAuthenticator({ sql }: Pick<ConsoleDeps, 'sql'>, by: string) {
  const token = newId();
  /** The hash of the link's token until it is used, and the hash of the session opened by it. */
  let unused: Buffer | null = hashOf(token);
  let session: Buffer | null = null;
  let endsAt = 0;
  /** The forms sent in that session: few, as it is one person for a few hours. */
  const taken = new Set<string>();
  const cookie = { path: CONSOLE, httpOnly: true, sameSite: 'Strict' } as const;
  const sessionOf = (c: Context<ConsoleEnv>) => getCookie(c, cookieName(c));
  const isSession = (id: string) =>
    session !== null && performance.now() < endsAt && timingSafeEqual(session, hashOf(id));

  function routes(app: ConsoleApp): void {
    app.get(ENTER, (c) => {
      const given = hashOf(c.req.query('token') ?? '');
      if (unused === null || !timingSafeEqual(unused, given)) {
        throw new Problem(
          403,
          'This link has already been used, or is not the one that the command printed. Start the command again for a new link.',
        );
      }
      // A HEAD request, such as a chat program's, does not use up the link.
      if (c.req.method === 'HEAD') return c.body(null);
      unused = null;
      const id = newId();
      session = hashOf(id);
      endsAt = performance.now() + SESSION_HOURS * 3_600_000;
      setCookie(c, cookieName(c), id, { ...cookie, maxAge: SESSION_HOURS * 3600 });
      // A page that redirects: being same-site, it makes the browser send the cookie, wherever the link was opened.
      const to = `${CONSOLE}${ALL}`;
      c.header('refresh', `0; url=${to}`);
      return respondPlain(
        c,
        'Waybill',
        <p>
          <a href={to}>Open the console</a>
        </p>,
      );
    });
    app.post('/sign-out', ownForms(sessionOf), (c) => {
      if (isSession(sessionOf(c) ?? '')) session = null;
      deleteCookie(c, cookieName(c), cookie);
      return respondPlain(
        c,
        'Signed out',
        <p>The command is still running in its terminal. Press Ctrl-C there to stop it.</p>,
      );
    });
  }

  const authenticator: Authenticator = {
    guard,
    routes,
    sessionOf,
    async authenticate(id) {
      if (!isSession(id)) return null;
      const user = { userId: 0, username: by, role: 'warehouse' } as const;
      return { user, operator: true, ...(await allEshops(sql)) };
    },
    async acceptFormOnce(_id, form) {
      if (taken.has(form)) return false;
      taken.add(form);
      return true;
    },
    unauthenticated: (c) =>
      respondPlain(
        c,
        'Operators only',
        <p>
          Open the link that waybill console --operator printed. It works once; start the command again for a
          new one.
        </p>,
        403,
      ),
  };
  return { authenticator, path: `${CONSOLE}${ENTER}?token=${token}` };
}
