/**
 * A webhook's new secret between the form that made it and the page that shows it, after a redirect, so that reloading that page makes
 * no other one. Its cookie is sealed, of that page alone, and gone once it was shown.
 */
import type { Context } from 'hono';
import { deleteCookie, getCookie, setCookie } from 'hono/cookie';
import type { ConsoleDeps, ConsoleEnv } from '../deps.ts';
import { CONSOLE, cookieName, isSecure } from '../session.ts';

const COOKIE = 'waybill_secret';
/** As long as a redirect may take, in seconds. */
const MAX_AGE_SECONDS = 120;

export function secretOnce(deps: Pick<ConsoleDeps, 'keys' | 'trustProxy' | 'publicUrl'>) {
  const options = (c: Context<ConsoleEnv>, webhookId: number) =>
    ({
      path: `${CONSOLE}/webhooks/${webhookId}`,
      httpOnly: true,
      sameSite: 'Strict',
      secure: isSecure(c, deps),
    }) as const;
  const ownerOf = (c: Context<ConsoleEnv>, webhookId: number) => ({
    eshopId: c.var.viewer.session.eshopId,
    webhookId,
  });
  return {
    keep(c: Context<ConsoleEnv>, webhookId: number, secret: string): void {
      const sealed = deps.keys.encryptSecret(secret, ownerOf(c, webhookId));
      const age = { maxAge: MAX_AGE_SECONDS };
      setCookie(c, cookieName(c, deps, COOKIE), sealed.toString('base64url'), {
        ...options(c, webhookId),
        ...age,
      });
    },
    /** The secret that was kept for this page, which is forgotten by this; undefined where there is none. */
    take(c: Context<ConsoleEnv>, webhookId: number): string | undefined {
      const sealed = getCookie(c, cookieName(c, deps, COOKIE));
      if (sealed === undefined) return undefined;
      deleteCookie(c, cookieName(c, deps, COOKIE), options(c, webhookId));
      try {
        return deps.keys.decryptSecret(Buffer.from(sealed, 'base64url'), ownerOf(c, webhookId));
      } catch {
        // Not one of ours, or of another webhook.
        return undefined;
      }
    },
  };
}
