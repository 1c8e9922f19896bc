/** The cookie of a session, and the token that identifies its own forms. */
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import type { Context } from 'hono';
import { deleteCookie, getCookie, setCookie } from 'hono/cookie';
import type { ConsoleEnv } from './deps.ts';

export const CONSOLE = '/console';
/** The path of the pages about all e-shops of a person, below {@link CONSOLE}. */
export const ALL = '/all';

/** A placeholder for the address of this server, to parse paths. */
const HERE = 'http://console';

/** The path and query of a page of the console, normalized as browsers do it; null for anything else. */
export function pageOf(path: string): string | null {
  if (!path.startsWith('/') || !URL.canParse(path, HERE)) return null;
  const { origin, pathname, search } = new URL(path, HERE);
  const isPage = pathname === CONSOLE || pathname.startsWith(`${CONSOLE}/`);
  return origin === HERE && isPage ? `${pathname}${search}` : null;
}

/** 256 random bits. */
export function newId(): string {
  return randomBytes(32).toString('base64url');
}

/** The token of a session's forms, known only to its pages. */
export function csrfToken(id: string): string {
  return createHmac('sha256', id).update('forms').digest('base64url');
}

/** The token in the forms about an e-shop: the session's token, the e-shop, and a part unique to the page. */
export function formToken(id: string, eshopId: number): string {
  return `${csrfToken(id)}.${eshopId}.${randomBytes(12).toString('base64url')}`;
}

/** The e-shop and the unique part of a form's page; NaN and undefined before the sign-in. */
export function partsOfToken(token: string) {
  const [, eshopId, page] = token.split('.');
  return { eshopId: Number(eshopId), page };
}

/** Whether a form has the token of this session. */
export function isCsrfToken(id: string, token: string): boolean {
  const [expected, given] = [Buffer.from(csrfToken(id)), Buffer.from(token.split('.')[0] ?? '')];
  return expected.length === given.length && timingSafeEqual(expected, given);
}

/** Settings that say how browsers reach us. */
export interface SessionContext {
  readonly trustProxy: boolean;
  readonly publicUrl: string | null;
}

/** Whether the browser uses TLS, judged by the public URL, a trusted proxy's header, or the connection itself. */
function isSecure(c: Context<ConsoleEnv>, { trustProxy, publicUrl }: SessionContext): boolean {
  if (publicUrl?.startsWith('https:') === true) return true;
  const forwarded = trustProxy ? c.req.header('x-forwarded-proto')?.split(',').at(-1)?.trim() : undefined;
  return (forwarded ?? new URL(c.req.url).protocol.replace(':', '')) === 'https';
}

/** A cookie of the console, which scripts cannot read. */
export function cookieOf(
  reached: SessionContext,
  name: string,
  options: { readonly path: string; readonly sameSite: 'Lax' | 'Strict' } = {
    path: CONSOLE,
    sameSite: 'Lax',
  },
) {
  // Over TLS browsers accept it only over TLS. `__Host-` would need the path `/`.
  const nameOf = (c: Context<ConsoleEnv>) => (isSecure(c, reached) ? `__Secure-${name}` : name);
  const optionsOf = (c: Context<ConsoleEnv>) => ({
    ...options,
    httpOnly: true,
    secure: isSecure(c, reached),
  });
  return {
    read: (c: Context<ConsoleEnv>) => getCookie(c, nameOf(c)),
    write(c: Context<ConsoleEnv>, value: string, age: { readonly maxAge?: number } = {}): void {
      setCookie(c, nameOf(c), value, { ...optionsOf(c), ...age });
    },
    remove(c: Context<ConsoleEnv>): void {
      deleteCookie(c, nameOf(c), optionsOf(c));
    },
  };
}
