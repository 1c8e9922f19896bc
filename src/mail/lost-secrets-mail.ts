/** The mail after the master key was lost (docs/interface.md, W20). */
import { shortTypes } from '../domain/event-types.ts';
import type { LostWebhook } from '../domain/mailed.ts';
import { nameOf } from '../domain/webhook-name.ts';
import { typesOf } from '../domain/webhook-types.ts';
import type { MailBlock, MailContent } from './mail-template.ts';
import type { MailedNotice } from './notice-mails.ts';

interface LostSecrets extends MailedNotice {
  /** The affected webhooks of the e-shop; may be empty if the secret of its notices was lost. */
  readonly lost: readonly LostWebhook[];
  readonly lostNoticeSecret: boolean;
}

export function lostSecretsMail({ id, lost, lostNoticeSecret, eshopName, email }: LostSecrets): MailContent {
  const secrets = lost.filter(({ secret }) => secret);
  const [first, ...others] = secrets;
  const withHeaders = lost.filter(({ headers }) => headers.length > 0);
  const [headed] = withHeaders;
  const asymmetric = lost.filter(({ signingKey }) => signingKey);
  const blocks: MailBlock[] = [
    `${eshopName},`,
    'the key that protects the secrets of your webhooks has been lost.',
    ...(first === undefined
      ? []
      : [
          'Deliveries are signed with secrets that nobody knows. A receiver that checks signatures refuses them until each of these webhooks gets a new secret:',
          {
            facts: secrets.map(
              (each) =>
                [`Webhook ${each.id}`, `${nameOf(each)}, ${shortTypes(typesOf(each))}, ${each.url}`] as const,
            ),
          },
          `Make a new one${others.length > 0 ? ' for each' : ''} (it is shown once), and set it in the receiver:`,
          { request: 'PUT /v21/webhooks/{id}/regenerate-secret', id: first.id },
        ]),
    ...(headed === undefined
      ? []
      : [
          'The static headers are lost, and no longer sent. Send their values again:',
          {
            facts: withHeaders.map(({ id, headers }) => [`Webhook ${id}`, headers.join(', ')] as const),
          },
          { request: 'PUT /v21/webhooks/{id}', id: headed.id },
        ]),
    ...(asymmetric.length === 0
      ? []
      : [
          'The key pair that signs these webhooks was lost, and there is a new one. A receiver that verifies with the old public key refuses deliveries until it gets the new one.',
          {
            facts: asymmetric.map((each) => [`Webhook ${each.id}`, `${nameOf(each)}, ${each.url}`] as const),
          },
          { request: 'GET /v21/eshop/signing-keys' },
        ]),
    ...(lostNoticeSecret
      ? [
          'The notices that are posted to your URL are signed with a secret that nobody knows. Make a new one (it is shown once), and set it where you receive them:',
          { request: 'PATCH /v21/eshop', body: '{"notifications": {"secret": null}}' },
        ]
      : []),
    'Deliveries that are refused until then are retried, each within its own time limit. Nothing that you sent to the API is affected. Users have to sign in again.',
  ];
  const subject =
    first === undefined ? 'The key of your webhooks was lost' : 'Your webhooks need new secrets';
  return { to: email, subject, messageId: `<warning-${id}@waybill.local>`, tone: 'bad', blocks };
}
