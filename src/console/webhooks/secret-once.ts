/**
 * Passes a webhook's new secret over a redirect, from the form that made it to the page that shows it, so that
 * reloading makes no other. Its cookie is sealed, limited to that page, and deleted once shown.
 */
import type { Context } from 'hono';
import type { ConsoleDeps, ConsoleEnv } from '../deps.ts';
import { CONSOLE, cookieOf } from '../session.ts';

const COOKIE = 'waybill_secret';
/** How long a redirect may take, in seconds. */
const MAX_AGE_SECONDS = 120;

export function secretOnce(deps: Pick<ConsoleDeps, 'keys' | 'trustProxy' | 'publicUrl'>) {
  const cookie = (webhookId: number) =>
    cookieOf(deps, COOKIE, { path: `${CONSOLE}/webhooks/${webhookId}`, sameSite: 'Strict' });
  const ownerOf = (c: Context<ConsoleEnv>, webhookId: number) => ({
    eshopId: c.var.viewer.session.eshopId,
    webhookId,
  });
  return {
    keep(c: Context<ConsoleEnv>, webhookId: number, secret: string): void {
      const sealed = deps.keys.encryptSecret(secret, ownerOf(c, webhookId));
      cookie(webhookId).write(c, sealed.toString('base64url'), { maxAge: MAX_AGE_SECONDS });
    },
    /** Takes the secret kept for this page, and deletes it; undefined if there is none. */
    take(c: Context<ConsoleEnv>, webhookId: number): string | undefined {
      const sealed = cookie(webhookId).read(c);
      if (sealed === undefined) return undefined;
      cookie(webhookId).remove(c);
      try {
        return deps.keys.decryptSecret(Buffer.from(sealed, 'base64url'), ownerOf(c, webhookId));
      } catch {
        // Forged, or for another webhook.
        return undefined;
      }
    },
  };
}
