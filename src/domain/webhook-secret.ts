/** The secret of a webhook that an e-shop brings along (docs/interface.md, W4). */
import * as v from 'valibot';
import { described } from './fields.ts';

const MIN_LENGTH = 24;
const MAX_LENGTH = 256;
/** Before the base64 part of a secret whose bytes are the key of `webhook-signature`. */
const PREFIX = 'whsec_';
/** Bytes that the base64 part stands for. */
const KEY_BYTES = { min: 24, max: 64 } as const;

/** What is wrong with a secret, without repeating it, or null. */
export function secretProblem(secret: string): string | null {
  if (!/^[\x20-\x7e]*$/.test(secret)) return 'must consist of printable ASCII characters';
  if (secret.length < MIN_LENGTH || secret.length > MAX_LENGTH)
    return `must be ${MIN_LENGTH} to ${MAX_LENGTH} characters long`;
  return secret.startsWith(PREFIX) ? encodedProblem(secret.slice(PREFIX.length)) : null;
}

/** What cannot be decoded in one way alone would be another key at the receiver. */
function encodedProblem(encoded: string): string | null {
  const bytes = Buffer.from(encoded, 'base64');
  if (bytes.toString('base64') !== encoded || bytes.length < KEY_BYTES.min || bytes.length > KEY_BYTES.max)
    return `must be ${PREFIX} followed by the base64 of ${KEY_BYTES.min} to ${KEY_BYTES.max} bytes, or not begin with ${PREFIX}`;
  return null;
}

const ownSecret = v.pipe(
  v.string('must be a string'),
  v.rawCheck(({ dataset, addIssue }) => {
    const message = dataset.typed ? secretProblem(dataset.value) : null;
    if (message !== null) addIssue({ message });
  }),
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

/** As a request says it: null where it leaves it out, and one is to be generated. */
export const ownSecretField = v.nullish(ownSecret, null);

/** As creation and regeneration answer it. */
export const answeredSecret = described(
  v.string(),
  'What signatures are made with: your own, or `whsec_` followed by 32 random bytes in base64. Never returned again.',
);
