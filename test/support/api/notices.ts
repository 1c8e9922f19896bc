/** Further recipients of an e-shop's notices, and receivers that check what chats would show. */
import * as v from 'valibot';
import type { Pool } from '../../../src/db/connection/pool.ts';
import type { NoticeFormat } from '../../../src/domain/notifications.ts';
import { type Keys, newWebhookSecret } from '../../../src/secrets/keys.ts';

/** Adds a confirmed address. */
export async function addAddress(sql: Pool, eshopId: number, address: string): Promise<void> {
  await sql`
    insert into notice_addresses (eshop_id, address, confirmed_at) values (${eshopId}, ${address}, now())`;
}

/** Sets the URL; answers its secret. */
export async function setNoticeUrl(
  { sql, keys }: { readonly sql: Pool; readonly keys: Keys },
  eshopId: number,
  url: string,
  format: NoticeFormat = 'text',
): Promise<string> {
  const secret = newWebhookSecret();
  await sql`
    update eshops set notice_url = ${url}, notice_format = ${format},
      notice_secret = ${keys.encryptSecret(secret, { eshopId, of: 'notices' })}
    where id = ${eshopId}`;
  return secret;
}

/** Text between two marks of emphasis or code, which are outside of words. */
const MARKS = /(?<![\p{L}\p{N}])([*_`~]+)\S.*?\1(?![\p{L}\p{N}])/su;

/**
 * What Slack makes of a body: `no_text` without text, unknown fields ignored, `<…>` as markup, three entities decoded
 * (https://api.slack.com/messaging/webhooks, https://api.slack.com/reference/surfaces/formatting).
 * @returns the text shown
 */
export function shownBySlack(body: string): string {
  const payload = v.parse(
    v.looseObject({ text: v.pipe(v.string(), v.minLength(1, 'no_text')) }),
    JSON.parse(body),
  );
  for (const known of [
    'blocks',
    'attachments',
    'thread_ts',
    'response_type',
    'channel',
    'username',
    'metadata',
    'mrkdwn',
  ])
    if (known in payload) throw new Error(`Slack has a meaning of its own for ${known}`);
  if (/[<>]/.test(payload.text)) throw new Error('Slack would take < or > for markup');
  if (MARKS.test(payload.text)) throw new Error('Slack would show emphasis or code');
  if (/&(?!amp;|lt;|gt;)/.test(payload.text)) throw new Error('an & that is none of the three entities');
  return payload.text.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&');
}

/** `IncomingWebhookRequest` of Mattermost: its decoder matches names without case and refuses other types. */
const mattermostFields = {
  text: v.string(),
  username: v.string(),
  icon_url: v.string(),
  icon_emoji: v.string(),
  channel: v.string(),
  props: v.looseObject({}),
  attachments: v.array(v.looseObject({})),
  type: v.pipe(v.string(), v.startsWith('custom_')),
  priority: v.looseObject({}),
};

/** What Mattermost makes of it. @returns the text shown; at most 16,383 characters fit into a post */
export function shownByMattermost(body: string): string {
  const payload = v.parse(v.looseObject({}), JSON.parse(body));
  const named = Object.entries(payload).map(([name, value]) => [name.toLowerCase(), value] as const);
  const known = named.filter(([name]) => name in mattermostFields);
  const { text = '' } = v.parse(v.partial(v.object(mattermostFields)), Object.fromEntries(known));
  if (known.length > 1) throw new Error('more than a text');
  if (text === '') throw new Error('No text specified');
  if (text.length > 16_383) throw new Error('too long for one post');
  if (/(?:^|\W)@(?:all|channel|here|\w)/.test(text)) throw new Error('would mention somebody');
  if (MARKS.test(text) || /\*.+\*|`.+`|~~.+~~/s.test(text)) throw new Error('would show emphasis or code');
  if (/\]\(/.test(text)) throw new Error('would show a link');
  return text;
}

const textBlock = v.strictObject({
  type: v.literal('TextBlock'),
  text: v.pipe(v.string(), v.minLength(1)),
  weight: v.optional(v.picklist(['Default', 'Lighter', 'Bolder'])),
  size: v.optional(v.picklist(['Default', 'Small', 'Medium', 'Large', 'ExtraLarge'])),
  color: v.optional(v.picklist(['Default', 'Dark', 'Light', 'Accent', 'Good', 'Warning', 'Attention'])),
  wrap: v.optional(v.boolean()),
});
const factSet = v.strictObject({
  type: v.literal('FactSet'),
  facts: v.pipe(v.array(v.strictObject({ title: v.string(), value: v.string() })), v.minLength(1)),
});

/** The message that a Teams webhook takes, with a card of elements of Adaptive Cards 1.4 (adaptivecards.io). */
const teamsMessage = v.strictObject({
  type: v.literal('message'),
  attachments: v.strictTuple([
    v.strictObject({
      contentType: v.literal('application/vnd.microsoft.card.adaptive'),
      contentUrl: v.null(),
      content: v.strictObject({
        $schema: v.literal('http://adaptivecards.io/schemas/adaptive-card.json'),
        type: v.literal('AdaptiveCard'),
        version: v.picklist(['1.0', '1.1', '1.2', '1.3', '1.4']),
        msteams: v.optional(v.strictObject({ width: v.literal('Full') })),
        body: v.array(v.variant('type', [textBlock, factSet])),
      }),
    }),
  ]),
});

/** What Teams makes of it: at most 28 KiB. @returns the lines shown */
export function shownByTeams(body: string): string[] {
  if (Buffer.byteLength(body) > 28 * 1024) throw new Error('too large for a message');
  const { attachments } = v.parse(teamsMessage, JSON.parse(body));
  const lines = attachments[0].content.body.flatMap((block) =>
    block.type === 'TextBlock' ? [block.text] : block.facts.map(({ title, value }) => `${title}: ${value}`),
  );
  // Cards know no ~.
  if (lines.some((line) => MARKS.test(line.replaceAll(/\\.|~/g, ''))))
    throw new Error('would show emphasis or code');
  return lines.map((line) => line.replaceAll(/\\([\\*`[\]_])/g, '$1'));
}
