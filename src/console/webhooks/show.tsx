/** Reads and shows the page of a webhook. */
import type { Context } from 'hono';
import * as v from 'valibot';
import { Delivery } from '../../api/deliveries/record.ts';
import { recoveryRecord } from '../../api/webhooks/recovery-record.ts';
import { lastAccepted } from '../../db/console/health.ts';
import { listNotices } from '../../db/console/notices.ts';
import { findWebhookWithSecrets } from '../../db/webhooks/with-secrets.ts';
import { eshopRecordSchema } from '../../domain/eshop.ts';
import { signingKeySchema } from '../../domain/signing-key.ts';
import { webhookRecordSchema } from '../../domain/webhook.ts';
import { piece, rejectionOf } from '../api-client.ts';
import type { ConsoleDeps, ConsoleEnv } from '../deps.ts';
import { respond } from '../layout.tsx';
import { CONSOLE } from '../session.ts';
import { WebhookPage, type WebhookPageProps } from './page.tsx';
import { secretOnce } from './secret-once.ts';

export const SigningKeys = v.array(signingKeySchema);
export const SIGNING_KEYS = '/v21/eshop/signing-keys';

type Asking = Context<ConsoleEnv>;
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

/** Until when the former secret of a webhook signs too; null if there is none. */
async function findOverlap(sql: ConsoleDeps['sql'], c: Asking, id: number): Promise<string | null> {
  const { session, now } = c.var.viewer;
  const until = (await findWebhookWithSecrets(sql, session.eshopId, id))?.previousSecretUntil ?? null;
  return until !== null && until > now ? until.toISOString() : null;
}

/** What the page of a webhook shows. */
export async function readWebhook({ sql, policy }: ConsoleDeps, c: Asking, id: string) {
  const { api, viewer } = c.var;
  const at = `/v21/webhooks/${piece(id)}`;
  const webhook = await api.get(webhookRecordSchema, at);
  const [accepted, deliveries, recoveries, eshop, overlapUntil, sent, signingKeys] = await Promise.all([
    lastAccepted(sql, viewer.session.eshopId),
    api.get(v.array(Delivery), `${at}/deliveries`, { items: '8' }),
    api.get(v.array(recoveryRecord), `${at}/recoveries`, { items: '5' }),
    api.get(eshopRecordSchema, '/v21/eshop'),
    findOverlap(sql, c, webhook.id),
    listNotices(sql, viewer.session.eshopId, { webhookId: webhook.id, limit: 10 }),
    webhook.asymmetric ? api.get(SigningKeys, SIGNING_KEYS) : [],
  ]);
  const { deliveriesFrom } = eshop;
  const page = { webhook, policy, overlapUntil, sent, deliveries, recoveries, deliveriesFrom, signingKeys };
  return { ...page, accepted: accepted.get(webhook.id) };
}

/** What the routes of webhooks share. */
export function webhookPages(deps: ConsoleDeps) {
  const { sql, policy } = deps;
  const secrets = secretOnce(deps);

  const overlapOf = (c: Asking, id: number) => findOverlap(sql, c, id);

  async function shown(c: Asking, id: string, extra: Extra) {
    const page = await readWebhook(deps, c, id);
    const secret = secrets.take(c, page.webhook.id);
    return respond(
      c,
      <WebhookPage {...page} {...extra} secret={secret} />,
      extra.refused === undefined ? 200 : 409,
    );
  }

  /** Runs an action on the webhook of the path; a refusal is shown on its page. */
  async function orRefused(c: Asking, act: (at: string) => Promise<Response>): Promise<Response> {
    const id = c.req.param('id') ?? '';
    try {
      return await act(`/webhooks/${piece(id)}`);
    } catch (error) {
      return await shown(c, id, { refused: rejectionOf(error) });
    }
  }

  /** The same for one after which its page is shown again. @param done the word of its notice */
  const act = (c: Asking, done: string, ask: (at: string) => Promise<unknown>) =>
    orRefused(c, async (at) => {
      await ask(`/v21${at}`);
      return c.redirect(`${CONSOLE}${at}?done=${done}`, 303);
    });

  return { policy, secrets, overlapOf, shown, orRefused, act };
}

export type WebhookPages = ReturnType<typeof webhookPages>;
