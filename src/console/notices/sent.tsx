/** The notices of an e-shop, with their recipients and times. */
import type { ListedNotice } from '../../db/console/notices.ts';
import { Badge, type Tone } from '../badges.tsx';
import { WebhookLink, type WebhookNames } from '../names.tsx';
import { Ago } from '../times.tsx';

const WORDS: Readonly<Record<ListedNotice['kind'], string>> = {
  warning: 'is failing',
  deactivated: 'was deactivated',
  recovered: 'has recovered',
  confirmation: 'asked for a confirmation',
  lostSecrets: 'webhooks need new secrets',
};

const STATES: Readonly<Record<ListedNotice['state'], readonly [Tone, string]>> = {
  sent: ['good', 'sent'],
  waiting: ['busy', 'waiting'],
  dropped: ['', 'no longer applied'],
  givenUp: ['bad', 'given up'],
};

export function NoticeRows({ notices, names }: { notices: readonly ListedNotice[]; names: WebhookNames }) {
  return (
    <ul class="rows">
      {notices.map(({ kind, webhookId, to, at, sentAt, state, error }) => {
        const [tone, word] = STATES[state];
        return (
          <li>
            <p class="name">
              {webhookId === null ? (
                WORDS[kind]
              ) : (
                <>
                  <WebhookLink id={webhookId} names={names} /> {WORDS[kind]}
                </>
              )}
            </p>
            <p class="more">
              <span class="wrap">{to ?? 'an address removed since'}</span>
              {error === null || state === 'sent' ? null : <span class="wrap">{error}</span>}
            </p>
            <div class="end">
              <Badge tone={tone}>{word}</Badge>
              <Ago at={(sentAt ?? at).toISOString()} />
            </div>
          </li>
        );
      })}
    </ul>
  );
}
