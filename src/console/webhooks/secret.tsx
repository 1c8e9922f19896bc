/** The signing secret of a webhook, on its page. */
import type { SigningKeyRecord } from '../../domain/signing-key.ts';
import { ActionButton } from '../layout.tsx';
import { Card, Code } from '../parts.tsx';
import { Ago, Time } from '../times.tsx';

/** Shown once. @param use what it is for, in a sentence */
export function NewSecret({ secret, use }: { secret: string; use: string }) {
  return (
    <Card id="secret" title="Signing secret">
      <p>{use} Copy it now: it is never shown again.</p>
      <Code text={secret} label="The new secret" fold />
    </Card>
  );
}

/** Shown while the former secret still signs too. */
export function Overlap({ until }: { until: string | null }) {
  if (until === null) return null;
  return (
    <p class="note">
      The previous secret is also used for signing until <Time at={until} /> (<Ago at={until} />
      ).
    </p>
  );
}

/**
 * @param id of the webhook
 * @param keys newest first: one, or two while both sign
 */
export function PublicKeys({ id, keys }: { id: number; keys: readonly SigningKeyRecord[] }) {
  const replaced = keys.some(({ signsUntil }) => signsUntil !== null);
  return (
    <Card id="public-keys" title="Public keys">
      <p class="quiet">
        Receivers verify v1a of webhook-signature with them. They are the same for all webhooks of the e-shop.
      </p>
      {keys.map(({ publicKey, createdAt, signsUntil }) => (
        <>
          <p>
            Of <Time at={createdAt} />
            {signsUntil === null ? null : (
              <>
                , signs until <Time at={signsUntil} />
              </>
            )}
          </p>
          <Code text={publicKey} label="A public key" fold />
        </>
      ))}
      {replaced ? null : <ActionButton action={`/webhooks/${id}/next-key`}>Make the next key</ActionButton>}
    </Card>
  );
}
