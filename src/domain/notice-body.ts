/** The body sent to the URL of an e-shop's notices (docs/interface.md, N7). */
import { shortTypes } from './event-types.ts';
import type { NoticeFormat, NoticeKind } from './notifications.ts';
import { counted, minute, oneLine } from './text.ts';
import { type GivenTypes, typesOf } from './webhook-types.ts';

/** The contents of a notice, in either form. */
export interface NoticeContent {
  /** A UUID, the same on every try. */
  readonly id: string;
  readonly kind: NoticeKind;
  /** When it was decided. */
  readonly at: Date;
  readonly eshop: { readonly id: number; readonly name: string };
  readonly webhook: GivenTypes & { readonly id: number; readonly url: string };
  /** Since when it has been failing; when it was deactivated or recovered. */
  readonly since: Date;
  readonly lastError: string | null;
  /** Failed attempts, in a warning or a deactivation. */
  readonly failures: number | null;
  /** The delivery that is failing while others are accepted, or whose failure caused the deactivation. */
  readonly deliveryId: string | null;
  /** In a warning: the earliest time of a deactivation; null if unknown. */
  readonly deactivationAt: Date | null;
  /** In a deactivation: why. */
  readonly reason: 'retriesExhausted' | 'gone' | null;
}

/** The body as JSON. */
export function noticeBody(content: NoticeContent, format: NoticeFormat): string {
  return JSON.stringify(format === 'teams' ? teamsBody(content) : textBody(content));
}

/** Names only the host of the receiver: a path may hold a key, and a channel has many readers. */
const hostOf = (url: string) => (URL.canParse(url) ? new URL(url).host : '');

const HEADLINES: Readonly<Record<NoticeKind, string>> = {
  warning: 'is failing',
  deactivated: 'was deactivated',
  recovered: 'has recovered',
};

function headlineOf({ kind, webhook, eshop }: NoticeContent): string {
  return `Webhook ${webhook.id} (${shortTypes(typesOf(webhook))}) of ${oneLine(eshop.name)} ${HEADLINES[kind]}`;
}

const REASONS = { gone: 'the receiver responded with 410', retriesExhausted: 'no retries left' } as const;

function factsOf(content: NoticeContent): (readonly [name: string, value: string])[] {
  const { kind, webhook, since, failures, lastError, deliveryId, deactivationAt, reason } = content;
  const names = { warning: 'Failing since', deactivated: 'Deactivated', recovered: 'Working again since' };
  const facts = [
    ['Receiver', hostOf(webhook.url)],
    [names[kind], minute(since)],
    ['Reason', reason === null ? null : REASONS[reason]],
    ['Failed', failures === null ? null : counted(failures, 'attempt')],
    ['Last error', lastError === null ? null : oneLine(lastError)],
    ['Delivery', deliveryId],
    ['Will be deactivated', deactivationAt === null ? null : `${minute(deactivationAt)} at the earliest`],
  ] as const;
  return facts.flatMap(([name, value]) => (value === null ? [] : [[name, value] as const]));
}

/**
 * Slack and Mattermost show `text` and ignore unknown fields. None of our other fields has one of their names
 * (`type`, `channel`, `username`, `attachments`, `blocks`, `props`, …).
 */
function textBody(content: NoticeContent) {
  const { id, kind, at, eshop, webhook, since, lastError, failures, deliveryId, reason } = content;
  const [webhookType, ...additionalTypes] = typesOf(webhook);
  const lines = [headlineOf(content), ...factsOf(content).map(([name, value]) => `${name}: ${value}`)];
  return {
    text: lines.map(plain).join('\n'),
    id,
    kind,
    at: at.toISOString(),
    eshop,
    webhook: { id: webhook.id, webhookType, additionalTypes, host: hostOf(webhook.url) },
    since: since.toISOString(),
    lastError,
    failures,
    deliveryId,
    deactivationAt: content.deactivationAt?.toISOString() ?? null,
    reason,
  };
}

/**
 * Characters that chats read as emphasis or code, and similar-looking ones that replace them: Slack cannot escape
 * them, and shows the backslash that Mattermost needs. The other fields have the text unchanged.
 */
const LIKES: Readonly<Record<string, string>> = { '*': '∗', '`': 'ˋ', '~': '∼', _: '＿' };
/** An underscore within a word is not emphasis: `CREATE_ORDER`. */
const OUTER_UNDERSCORE = /(?<![\p{L}\p{N}_])_+|_+(?![\p{L}\p{N}_])/gu;

/**
 * Also escapes the three characters that begin markup and mentions in Slack (`<!channel>`), an @ that would address
 * everybody in Mattermost, and Mattermost's links.
 */
function plain(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('@', '@\u200b')
    .replaceAll('](', ']\u200b(')
    .replaceAll(/[*`~]/g, alike)
    .replaceAll(OUTER_UNDERSCORE, alike);
}

const alike = (characters: string) => [...characters].map((each) => LIKES[each] ?? each).join('');

/** Puts a backslash before characters that would begin emphasis or a link in a card. */
const unmarked = (text: string) =>
  text.replaceAll(/[\\*`[\]]/g, '\\$&').replaceAll(OUTER_UNDERSCORE, (outer) => outer.replaceAll('_', '\\_'));

const COLORS = { warning: 'Warning', deactivated: 'Attention', recovered: 'Good' } as const;

/** The message that a workflow of Teams posts ("When a Teams webhook request is received"): one adaptive card. */
function teamsBody(content: NoticeContent) {
  return {
    type: 'message',
    attachments: [
      {
        contentType: 'application/vnd.microsoft.card.adaptive',
        contentUrl: null,
        content: {
          $schema: 'http://adaptivecards.io/schemas/adaptive-card.json',
          type: 'AdaptiveCard',
          version: '1.4',
          msteams: { width: 'Full' },
          body: [
            {
              type: 'TextBlock',
              text: unmarked(headlineOf(content)),
              weight: 'Bolder',
              size: 'Medium',
              color: COLORS[content.kind],
              wrap: true,
            },
            {
              type: 'FactSet',
              facts: factsOf(content).map(([title, value]) => ({ title, value: unmarked(value) })),
            },
          ],
        },
      },
    ],
  };
}
