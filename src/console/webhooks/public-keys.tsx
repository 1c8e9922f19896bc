/** The e-shop's public keys, on the page of an asymmetric webhook. */
import type { SigningKeyRecord } from '../../domain/signing-key.ts';
import type { Viewer } from '../deps.ts';
import { Act } from '../layout.tsx';
import { Code } from '../parts.tsx';
import { Time } from '../times.tsx';

interface PublicKeysProps {
  readonly viewer: Viewer;
  /** The id of the webhook. */
  readonly id: number;
  /** The newest first: one, or two while both sign. */
  readonly keys: readonly SigningKeyRecord[];
}

export function PublicKeys({ viewer, id, keys }: PublicKeysProps) {
  const replaced = keys.some(({ signsUntil }) => signsUntil !== null);
  return (
    <section class="card" aria-labelledby="public-keys">
      <h2 id="public-keys">Public keys</h2>
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
      {replaced ? null : (
        <Act action={`/webhooks/${id}/next-key`} viewer={viewer}>
          Make the next key
        </Act>
      )}
    </section>
  );
}
