/** Test vectors for receivers that verify `v1a` of `webhook-signature` with a public key, and nothing else. */
import { createHash, createPublicKey } from 'node:crypto';
import { privateKeyOf, publicKeyFormats } from '../../src/secrets/signing-keys.ts';
import { current, now, type Vector, vector as vectorOf } from './vectors.ts';

/** A POST with its verdict; `valid: false` in `asymmetric-setup.json`: a receiver must not even reach a verdict. */
export interface AsymmetricVector extends Omit<Vector, 'signedWith' | 'secrets'> {
  /** The public keys that the receiver knows. */
  readonly publicKeys: readonly string[];
}

/** The beginning of a private key in PKCS #8 (RFC 8410); 32 bytes follow. */
const PKCS8 = Buffer.from('302e020100300506032b657004220420', 'hex');

/** A key pair that everybody may know. */
function pairOf(seed: string) {
  const bytes = createHash('sha256').update(seed).digest();
  const privateKey = privateKeyOf(Buffer.concat([PKCS8, bytes]).toString('base64'));
  const { x = '' } = createPublicKey(privateKey).export({ format: 'jwk' });
  return { privateKey, ...publicKeyFormats(Buffer.from(x, 'base64url')) };
}
const present = pairOf('present');
const former = pairOf('former');
const stranger = pairOf('stranger');

type Pair = ReturnType<typeof pairOf>;

function vector(name: string, body: string, signedBy: readonly Pair[], known: readonly Pair[] = [present]) {
  const signingKeys = signedBy.map(({ privateKey }) => privateKey);
  const { method, target, headers } = vectorOf({ name, body, origin: 'shop', signingKeys });
  const publicKeys = known.map(({ publicKey }) => publicKey);
  return { name, publicKeys, now, method, target, headers, body, valid: true };
}

/** Requests to accept and to refuse. @param order the body of a `CREATE_ORDER` in v2 */
export function asymmetricVectors(order: string): AsymmetricVector[] {
  const good = (name: string) => vector(name, order, [present]);
  const bad = (name: string, part: Partial<AsymmetricVector>) => ({
    ...good(name),
    ...part,
    name,
    valid: false,
  });
  const { headers } = good('');
  const given = headers['webhook-signature'] ?? '';
  const [v1 = '', v1a = ''] = given.split(' ');
  const signature = (value: string) => ({ headers: { ...headers, 'webhook-signature': value } });
  const bytes = Buffer.from(v1a.slice(4), 'base64');
  /** The same signature with its first, or another, byte altered. */
  const altered = (index: number) =>
    Buffer.from(bytes.map((byte, at) => (at === index ? byte ^ 1 : byte))).toString('base64');
  /** `s` plus the group's order, little-endian: as good in curves that do not look, but another text. */
  const unreduced = () => {
    const order = 2n ** 252n + 27742317777372353535851937790883648493n;
    const s = BigInt(`0x${Buffer.from(bytes.subarray(32)).reverse().toString('hex')}`) + order;
    return Buffer.concat([
      bytes.subarray(0, 32),
      Buffer.from(s.toString(16).padStart(64, '0'), 'hex').reverse(),
    ]).toString('base64');
  };
  /** A dot separates what is signed: the time must not be taken to end at a later one. */
  const decimal = vector('v1a whose time reaches into the body', '{"vatRate":1.5}', [present]);
  const reaching = {
    ...decimal,
    headers: { ...decimal.headers, 'webhook-timestamp': `${now}.{"vatRate":1` },
    body: '5}',
    valid: false,
  };
  const another = '019a9fd1-0000-7000-8000-000000000000';
  return [
    good('v1a of an order'),
    vector('v1a over characters of every length in UTF-8', '{"note":"aé€𝄞 \\u0000 \\" \u2028"}', [present]),
    vector('v1a of two keys, only the new one is known', order, [present, former]),
    vector('v1a of two keys, only the former one is known', order, [present, former], [former]),
    vector('v1a of one key, two are known, it is the second', order, [former], [present, former]),
    { ...good('v1a, five minutes old'), now: now + 300 },
    { ...good('v1a, five minutes ahead'), now: now - 300 },
    { ...good('v1a behind a version that is still to come'), ...signature(`v2a,AA== ${given}`) },
    bad('v1a of another key', { publicKeys: [stranger.publicKey] }),
    bad('v1a of the former key, which is no longer known', vector('', order, [former])),
    bad('v1a over another body', { body: order.replace('10001', '10002') }),
    bad('v1a over a body written again with spaces', { body: JSON.stringify(JSON.parse(order), null, 1) }),
    bad('v1a over a body with a newline at its end', { body: `${order}\n` }),
    bad('v1a over an empty body', { body: '' }),
    bad('v1a older than five minutes', { now: now + 301 }),
    bad('v1a more than five minutes ahead', { now: now - 301 }),
    bad('v1a with another time', { headers: { ...headers, 'webhook-timestamp': String(now + 1) } }),
    bad('v1a with a time that is not a number', { headers: { ...headers, 'webhook-timestamp': 'soon' } }),
    reaching,
    bad('v1a with another id', {
      headers: { ...headers, 'webhook-id': another, 'x-service-delivery': another },
    }),
    bad('v1a with another X-Service-Delivery, by which repeats are recognized', {
      headers: { ...headers, 'x-service-delivery': another },
    }),
    bad('v1a over an empty body, as a GET has: the identifier is not covered', vector('', '', [present])),
    bad('no v1a beside v1', signature(v1)),
    bad('v1 in the place of v1a', signature(v1.replace('v1,', 'v1a,'))),
    bad('an empty v1a', signature('v1a,')),
    bad('half of a v1a', signature(`v1a,${bytes.subarray(0, 32).toString('base64')}`)),
    bad('a v1a that is not base64', signature('v1a,***')),
    bad('a v1a of zeros', signature(`v1a,${Buffer.alloc(64).toString('base64')}`)),
    bad('a v1a whose first half is altered', signature(`v1a,${altered(0)}`)),
    bad('a v1a whose second half is altered', signature(`v1a,${altered(32)}`)),
    bad('a v1a whose second half is greater than it may be', signature(`v1a,${unreduced()}`)),
    bad('v1a under another name', signature(v1a.replace('v1a,', 'v1b,'))),
  ];
}

/** Good requests to a receiver that was given no public key. @param order the body of a `CREATE_ORDER` in v2 */
export function asymmetricSetupVectors(order: string): AsymmetricVector[] {
  const { publicKey, jwk } = present;
  const ofBytes = (length: number) => `whpk_${Buffer.alloc(length, 'k').toString('base64')}`;
  const badly = (name: string, ...publicKeys: string[]) => ({
    ...vector(name, order, [present]),
    publicKeys,
    valid: false,
  });
  return [
    badly('an empty key', ''),
    badly('an empty key behind a good one', publicKey, ''),
    badly('one character, as of a key that is taken for a list', 'w'),
    badly('whpk_ and nothing', 'whpk_'),
    badly('a key without whpk_', publicKey.slice(5)),
    badly('a key without its last character', publicKey.slice(0, -1)),
    badly('half a key', publicKey.slice(0, 27)),
    badly('whpk_ and 31 bytes', ofBytes(31)),
    badly('whpk_ and 33 bytes', ofBytes(33)),
    badly('whpk_ and 64 bytes', ofBytes(64)),
    badly('whpk_ and zeros, for which anybody can sign', `whpk_${Buffer.alloc(32).toString('base64')}`),
    badly('a key in hexadecimal', `whpk_${Buffer.from(publicKey.slice(5), 'base64').toString('hex')}`),
    badly('a key in base64url', `whpk_${jwk.x}`),
    badly('a key with bits behind its last byte', publicKey.replace(/.=$/, 'V=')),
    badly('a key in quotes', `"${publicKey}"`),
    badly('a key and a newline', `${publicKey}\n`),
    badly('a key behind a space', ` ${publicKey}`),
    badly('a key and a character that nobody sees', `${publicKey}\u200b`),
    badly('two keys in one text', `${publicKey} ${former.publicKey}`),
    badly('the JWK as text', JSON.stringify(jwk)),
    badly('a private key', `whsk_${Buffer.alloc(64, 'k').toString('base64')}`),
    badly('a shared secret', current),
    badly('an API key', `wb_${'k'.repeat(43)}`),
    badly('a variable of a shell that nothing replaced', `\${WAREHOUSE_KEY}`),
    badly('whpk_ and words in its place', 'whpk_<the public key of your e-shop, in base64>'),
  ];
}
