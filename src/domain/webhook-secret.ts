/** The secret of a webhook, chosen by its e-shop (docs/interface.md, W4). */
import * as v from 'valibot';
import { described, withoutProblem } from './fields.ts';

/** How long a replaced secret, or a replaced signing key, still signs beside the new one, in hours. */
export const OVERLAP_HOURS = 24;

const MIN_LENGTH = 24;
const MAX_LENGTH = 256;
/** The prefix of a secret; the bytes of the base64 part after it are the key of `webhook-signature`. */
const PREFIX = 'whsec_';
/** The length of the bytes that the base64 part encodes. */
const KEY_BYTES = { min: 24, max: 64 } as const;

/** The problem of a secret, without repeating the secret, or null. */
export function secretProblem(secret: string): string | null {
  if (!/^[\x20-\x7e]*$/.test(secret)) return 'must consist of printable ASCII characters';
  if (secret.length < MIN_LENGTH || secret.length > MAX_LENGTH)
    return `must be ${MIN_LENGTH} to ${MAX_LENGTH} characters long`;
  return secret.startsWith(PREFIX) ? encodedProblem(secret.slice(PREFIX.length)) : null;
}

/** Only one encoding of the bytes is accepted: a receiver might decode another one to a different key. */
function encodedProblem(encoded: string): string | null {
  const bytes = Buffer.from(encoded, 'base64');
  if (bytes.toString('base64') !== encoded || bytes.length < KEY_BYTES.min || bytes.length > KEY_BYTES.max)
    return `must be ${PREFIX} followed by the base64 of ${KEY_BYTES.min} to ${KEY_BYTES.max} bytes, or not begin with ${PREFIX}`;
  return null;
}

/** In a request. */
export const ownSecret = v.pipe(
  v.string('must be a string'),
  withoutProblem(secretProblem),
  v.metadata({
    jsonSchema: {
      type: 'string',
      minLength: MIN_LENGTH,
      maxLength: MAX_LENGTH,
      pattern: '^[ -~]*$',
      description:
        'Your own secret, which your receiver knows already: 24–256 printable ASCII characters. One that begins with `whsec_` must be ' +
        'followed by the base64 of 24–64 bytes. Null or left out: one is generated.',
    },
  }),
);

/** In a request: null if left out; then a secret is generated. */
export const ownSecretField = v.nullish(ownSecret, null);

/** In the responses to creation and regeneration. */
export const answeredSecret = described(
  v.string(),
  'The key of all signatures: your own, or `whsec_` followed by 32 random bytes in base64. Never returned again.',
);
