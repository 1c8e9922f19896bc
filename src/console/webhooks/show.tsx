/** Reads and shows the page of a webhook. */
import type { Context } from 'hono';
import { type WebhookRecord, webhookRecordSchema } from '../../domain/webhook.ts';
import { piece, rejectionOf } from '../api-client.ts';
import type { ConsoleDeps, ConsoleEnv } from '../deps.ts';
import { respond } from '../layout.tsx';
import { CONSOLE, cookieOf } from '../session.ts';
import { readWebhook, WebhookPage, type WebhookPageProps } from './page.tsx';

type PageContext = Context<ConsoleEnv>;
type Extra = Pick<WebhookPageProps, 'testResult' | 'notice' | 'refused'>;

/** Notices after a redirect, by the word in the URL. */
export const NOTICES: ReadonlyMap<string, string> = new Map([
  ['created', 'The webhook was created. Send it a test to see whether your receiver works.'],
  ['rotated', 'The webhook has a new secret.'],
  ['next-key', 'The e-shop has a new key. Give its public key to your receivers within 24 hours.'],
  ['activate', 'The webhook is active. Held deliveries resume within seconds.'],
  ['deactivate', 'The webhook is inactive: open deliveries are held.'],
  ['paused', 'The webhook is paused: deliveries are held until the pause ends.'],
  ['resume', 'The pause is over. Held deliveries continue within seconds.'],
  ['saved', 'The webhook was changed.'],
  ['recovering', 'The recovery has started. Its progress is shown below.'],
  ['recovery-pause', 'The recovery is paused: it creates no further deliveries until it is resumed.'],
  ['recovery-resume', 'The recovery continues.'],
  ['recovery-cancel', 'The recovery was canceled.'],
  ['deleted', 'The webhook was deleted.'],
]);

const COOKIE = 'waybill_secret';
/** How long a redirect may take, in seconds. */
const MAX_AGE_SECONDS = 120;

/**
 * Passes a webhook's new secret through a redirect, from the form that made it to the page that shows it, so that
 * reloading makes no other. Its cookie is sealed, limited to that page, and deleted once shown.
 */
function secretOnce(deps: Pick<ConsoleDeps, 'keys' | 'trustProxy' | 'publicUrl'>) {
  const cookie = (webhookId: number) =>
    cookieOf(deps, COOKIE, { path: `${CONSOLE}/webhooks/${webhookId}`, sameSite: 'Strict' });
  const ownerOf = (c: PageContext, webhookId: number) => ({
    eshopId: c.var.viewer.session.eshopId,
    webhookId,
  });
  return {
    keep(c: PageContext, webhookId: number, secret: string): void {
      const sealed = deps.keys.encryptSecret(secret, ownerOf(c, webhookId));
      cookie(webhookId).write(c, sealed.toString('base64url'), { maxAge: MAX_AGE_SECONDS });
    },
    /** Takes the secret stored for this page, and deletes it; undefined if there is none. */
    take(c: PageContext, webhookId: number): string | undefined {
      const sealed = cookie(webhookId).read(c);
      if (sealed === undefined) return undefined;
      cookie(webhookId).remove(c);
      try {
        return deps.keys.decryptSecret(Buffer.from(sealed, 'base64url'), ownerOf(c, webhookId));
      } catch {
        // The cookie is forged, or for another webhook.
        return undefined;
      }
    },
  };
}

/** The webhook of the path. */
export function webhookOf(c: PageContext): Promise<WebhookRecord> {
  return c.var.api.get(webhookRecordSchema, `/v21/webhooks/${piece(c.req.param('id') ?? '')}`);
}

/** Functions that the routes of webhooks share. */
export function webhookPages(deps: ConsoleDeps) {
  const secrets = secretOnce(deps);

  async function renderWebhook(c: PageContext, id: string, extra: Extra) {
    const page = await readWebhook(deps, c, id);
    const secret = secrets.take(c, page.webhook.id);
    return respond(
      c,
      <WebhookPage {...page} {...extra} secret={secret} />,
      extra.refused === undefined ? 200 : 409,
    );
  }

  /** Runs an action on the webhook of the path; a refusal is shown on its page. */
  async function orRefused(c: PageContext, act: (at: string) => Promise<Response>): Promise<Response> {
    const id = c.req.param('id') ?? '';
    try {
      return await act(`/webhooks/${piece(id)}`);
    } catch (error) {
      return await renderWebhook(c, id, { refused: rejectionOf(error) });
    }
  }

  /** The same for an action after which the page is shown again. @param done the word of its notice */
  const act = (c: PageContext, done: string, ask: (at: string) => Promise<unknown>) =>
    orRefused(c, async (at) => {
      await ask(`/v21${at}`);
      return c.redirect(`${CONSOLE}${at}?done=${done}`, 303);
    });

  return { secrets, shown: renderWebhook, orRefused, act };
}

export type WebhookPages = ReturnType<typeof webhookPages>;
