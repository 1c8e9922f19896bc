/** @jsxRuntime automatic @jsxImportSource hono/jsx */
/** What was told, to whom and when. */
import type { Told } from '../../db/console/told.ts';
import { Badge, type Tone } from '../parts.tsx';
import { CONSOLE } from '../session.ts';
import { Ago } from '../times.tsx';

const WORDS: Readonly<Record<Told['kind'], string>> = {
  warning: 'is failing',
  deactivated: 'was deactivated',
  recovered: 'is well again',
  confirmation: 'asked for a confirmation',
  lostSecrets: 'needs a new secret',
};

const STATES: Readonly<Record<Told['state'], readonly [Tone, string]>> = {
  told: ['good', 'told'],
  waiting: ['busy', 'waiting'],
  dropped: ['', 'no longer applied'],
  givenUp: ['bad', 'given up'],
};

export function ToldRows({ told, now }: { told: readonly Told[]; now: Date }) {
  return (
    <ul class="rows">
      {told.map(({ kind, webhookId, to, at, toldAt, state, error }) => {
        const [tone, word] = STATES[state];
        return (
          <li>
            <p class="name">
              {webhookId === null ? (
                WORDS[kind]
              ) : (
                <>
                  <a href={`${CONSOLE}/webhooks/${webhookId}`}>Webhook {webhookId}</a> {WORDS[kind]}
                </>
              )}
            </p>
            <p class="more">
              <span class="wrap">{to ?? 'an address removed since'}</span>
              {error === null || state === 'told' ? null : <span class="wrap">{error}</span>}
            </p>
            <div class="end">
              <Badge tone={tone}>{word}</Badge>
              <Ago at={(toldAt ?? at).toISOString()} now={now} />
            </div>
          </li>
        );
      })}
    </ul>
  );
}
