/**
 * Which notices an e-shop gets about its webhooks, and where: `notifications` of `/eshop` (docs/interface.md, N2 to
 * N8).
 */
import * as v from 'valibot';
import { component, described, email, oneOf, time, withoutProblem } from './fields.ts';
import { list } from './list.ts';
import { answeredSecret, ownSecret } from './webhook-secret.ts';
import { urlInDocument, urlProblem } from './webhook-url.ts';

const noticeKinds = ['warning', 'deactivated', 'recovered'] as const;
export type NoticeKind = (typeof noticeKinds)[number];

const noticeFormats = ['text', 'teams'] as const;
export type NoticeFormat = (typeof noticeFormats)[number];

/** Further addresses. Too high: each deactivation uses up more of the shared mail budget (N3). */
const MAX_ADDRESSES = 5;
/** Mails that ask for a confirmation, per e-shop in a day. Too high: an e-shop could fill a stranger's mailbox. */
export const CONFIRMATIONS_PER_DAY = 10;
/** How long the link of such a mail is valid, in days. */
export const CONFIRMATION_DAYS = 7;
/** The path of the page behind such a link; the token follows. */
export const CONFIRM_PATH = '/console/confirm-address';

const warning = described(
  v.boolean('must be true or false'),
  'A notice when a webhook is failing, before it is deactivated. Default true.',
);

const recovered = described(
  v.boolean('must be true or false'),
  'One notice when a webhook has recovered, to all recipients of the notice that it was failing or deactivated. Default true.',
);

const format = described(
  oneOf(noticeFormats),
  'The body sent to `url`. `text`: `text` for people, as Slack and Mattermost show it, beside fields for programs. `teams`: an adaptive card, ' +
    'as a workflow of Microsoft Teams posts it. Default `text`.',
);

const url = v.pipe(
  v.string('must be a string'),
  withoutProblem(urlProblem),
  v.metadata(
    urlInDocument(
      'Where each notice is also sent, as a POST with the headers of Standard Webhooks, signed with `secret`: the URL of a channel in Slack, ' +
        'Mattermost or Teams, or of a program. The rules are those of the URL of a webhook. Six tries within an hour; null: nowhere.',
      'https://hooks.slack.example/services/T0/B0/x',
    ),
  ),
);

const addressOut = component('NotifiedAddress', {
  address: v.string(),
  confirmedAt: described(
    v.nullable(time()),
    'Null until someone has pressed the button on the page that the mail links to.',
  ),
});

/** In a record. */
export const notificationsSchema = v.object({
  warning,
  recovered,
  emails: described(v.array(addressOut), 'Further addresses; each gets notices once it is confirmed.'),
  url: v.nullable(url),
  format,
  secret: described(
    v.optional(answeredSecret),
    'Only in the response to the request that created it, and never again.',
  ),
});
export type Notifications = v.InferOutput<typeof notificationsSchema>;

/** In a request: an address as text, or in the form of a record. */
const addressIn = v.union(
  [email(), v.strictObject({ address: email(), confirmedAt: v.optional(v.unknown()) })],
  'must be an e-mail address',
);

/** The changes of a request; a field left out stays as it is. */
export const notificationsPatchSchema = v.strictObject({
  warning: v.optional(warning),
  recovered: v.optional(recovered),
  emails: v.optional(
    v.nullable(
      described(
        list(addressIn, MAX_ADDRESSES, 'addresses'),
        'Further addresses, as strings. A new one gets a mail with a link to a page whose button confirms it; the link is valid for seven days. At most ten such mails a day. ' +
          'If it is sent again after that time, it gets a new mail. Null or `[]`: none.',
      ),
    ),
  ),
  url: v.optional(v.nullable(url)),
  format: v.optional(format),
  secret: described(
    v.optional(v.nullable(ownSecret)),
    'Your own secret for `url`, or null for a new one; it is valid immediately. Without it, one is generated with the first `url`.',
  ),
});
export type NotificationsPatch = v.InferOutput<typeof notificationsPatchSchema>;

/** The addresses of a request, without repetitions: letter case does not matter. */
export function addressesOf(emails: NonNullable<NotificationsPatch['emails']>): string[] {
  const known = new Map<string, string>();
  for (const each of emails) {
    const address = typeof each === 'string' ? each : each.address;
    if (!known.has(address.toLowerCase())) known.set(address.toLowerCase(), address);
  }
  return [...known.values()];
}
