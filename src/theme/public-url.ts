/**
 * The public URL. The console's pages, redirects and cookies use paths from the root, and the guides a first
 * instance: this is the only place that replaces them by `PUBLIC_URL`. A proxy may pass its prefix on or remove it.
 * Links of the documentation are relative.
 */
import type { MiddlewareHandler } from 'hono';

/** The address used in guides and examples: that of a first instance. */
export const EXAMPLE_URL = 'http://127.0.0.1:8080';
/** A link of a page, in an attribute of an element. */
const LINK =
  /( (?:href|src|action|formaction|hx-[a-z-]+|data-[a-z-]+)=")(\/(?:console|docs|openapi\.json)(?=[/?#"]))/g;
const REWRITTEN = /^text\/html\b/;

/** The prefix of all paths: the path of the public URL, without a trailing slash. */
export function publicPrefix(publicUrl: string | null): string {
  return publicUrl === null ? '' : new URL(publicUrl).pathname.replace(/\/+$/, '');
}

/** The target of a request, without the prefix if it has it. */
export function withoutPrefix(target: string, prefix: string): string {
  if (prefix === '' || !target.startsWith(prefix)) return target;
  const rest = target.slice(prefix.length);
  if (rest === '' || rest.startsWith('?')) return `/${rest}`;
  return rest.startsWith('/') ? rest : target;
}

/** Puts the public URL into responses. @param publicUrl without a trailing slash; null if not configured */
export function publicLinks(publicUrl: string | null): MiddlewareHandler {
  if (publicUrl === null) return (_c, next) => next();
  const prefix = publicPrefix(publicUrl);
  return async (c, next) => {
    await next();
    const { headers } = c.res;
    const location = headers.get('location');
    if (location?.startsWith('/') === true) c.header('location', `${prefix}${location}`);
    const cookies = headers.getSetCookie();
    if (prefix !== '' && cookies.length > 0) {
      c.header('set-cookie', undefined);
      for (const cookie of cookies)
        c.header('set-cookie', cookie.replace('; Path=/', `; Path=${prefix}/`), { append: true });
    }
    if (!REWRITTEN.test(headers.get('content-type') ?? '')) return;
    const text = await c.res.text();
    const linked =
      prefix === '' ? text : text.replace(LINK, (_, before, path) => `${before}${prefix}${path}`);
    c.res = new Response(linked.replaceAll(EXAMPLE_URL, publicUrl), c.res);
  };
}
