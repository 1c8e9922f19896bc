/** One request to a webhook with a sample, made by this process. */
import { createTestSender } from '../attempt/test-sender.ts';
import { eshopOfWebhook } from '../db/webhooks/all-webhooks.ts';
import { findWebhookWithSecrets } from '../db/webhooks/with-secrets.ts';
import { createSender } from '../delivery/sender.ts';
import type { TestDeliveryResult } from '../domain/test-delivery.ts';
import { UserError } from '../lib/user-error.ts';
import { version } from '../lib/version.ts';
import { withDatabase } from './open-database.ts';
import { noSuchWebhook } from './options.ts';
import { ownParts } from './own-parts.ts';

/** @throws UserError where there is no such webhook, or its secret cannot be opened */
export async function sendTestTo(
  env: Readonly<Record<string, string | undefined>>,
  id: number,
): Promise<TestDeliveryResult> {
  const { config, own, keys } = await ownParts(env);
  const { settings, retryPolicy, deliveryAllowCidrs } = config;
  return await withDatabase(settings, async (sql) => {
    const eshopId = await eshopOfWebhook(sql, id);
    const webhook = eshopId === null ? null : await findWebhookWithSecrets(sql, eshopId, id);
    if (webhook === null) throw noSuchWebhook(id);
    const sender = createSender({
      timeoutMs: retryPolicy.attemptTimeoutMs,
      allowCidrs: deliveryAllowCidrs,
      own,
      dnsServers: settings.DNS_SERVERS,
      version,
    });
    try {
      const sendTest = createTestSender({ sender, keys: await keys(sql), version });
      return await sendTest(webhook).catch(() => {
        throw new UserError(
          `The secret of webhook ${id} cannot be opened: add the key that sealed it to SECRET_KEY_PREVIOUS, or regenerate the secret.`,
        );
      });
    } finally {
      await sender.close();
    }
  });
}
