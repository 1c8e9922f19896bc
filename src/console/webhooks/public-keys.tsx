/** The e-shop's public keys, on the page of an asymmetric webhook. */
import type { SigningKeyRecord } from '../../domain/signing-key.ts';
import { Act } from '../layout.tsx';
import { Card, Code } from '../parts.tsx';
import { Time } from '../times.tsx';

/**
 * @param id of the webhook
 * @param keys the newest first: one, or two while both sign
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
          <Code text={publicKey} named="A public key" fold />
        </>
      ))}
      {replaced ? null : <Act action={`/webhooks/${id}/next-key`}>Make the next key</Act>}
    </Card>
  );
}
