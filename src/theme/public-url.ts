/**
 * Where people reach us. Pages, redirects and cookies name paths from the root, and the guides a first instance: this is the one
 * place that puts `PUBLIC_URL` in their place. A proxy may pass its prefix on, or take it away.
 */
import type { MiddlewareHandler } from 'hono';

/** The address that guides and examples name. */
const EXAMPLE_URL = 'http://127.0.0.1:8080';
/** What pages link to, in an attribute of an element. */
const LINK =
  /( (?:href|src|action|formaction|hx-[a-z-]+|data-[a-z-]+)=")(\/(?:console|docs|openapi\.json)(?=[/?#"]))/g;
const REWRITTEN = /^text\/html\b/;

/** The prefix of all paths: the path of the public URL, without a slash at its end. */
export function publicPrefix(publicUrl: string | null): string {
  return publicUrl === null ? '' : new URL(publicUrl).pathname.replace(/\/+$/, '');
}

/** What a request asks for, without the prefix if it has it. */
export function withoutPrefix(target: string, prefix: string): string {
  if (prefix === '' || !target.startsWith(prefix)) return target;
  const rest = target.slice(prefix.length);
  if (rest === '' || rest.startsWith('?')) return `/${rest}`;
  return rest.startsWith('/') ? rest : target;
}

/** Answers name the public URL. @param publicUrl without a slash at its end; null: nobody said where we are */
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
