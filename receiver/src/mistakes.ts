/** Why a signature does not match: common mistakes of receivers, each tested before it is named. */
import { type Bytes, join } from './bytes.ts';
import type { Judgment, ReceivedRequest, SignatureVersion } from './judgment.ts';
import { Refused } from './refused.ts';
import type { SecretSource } from './secrets.ts';

interface Suspect {
  readonly secrets: SecretSource;
  readonly kind: string;
  /** As in the header. */
  readonly webhook: string;
  /** The version that was verified. */
  readonly version: SignatureVersion;
  /** Whether a secret made a signature of this version over this body. */
  readonly fits: (version: SignatureVersion, body: Bytes) => (secret: string) => Promise<boolean>;
}

/** The message for a request that was not signed with any of its secrets. */
export async function explainMismatch(request: ReceivedRequest, suspect: Suspect): Promise<Refused> {
  const { method, target, body } = request;
  const { kind, webhook, version, fits } = suspect;
  const secrets = await suspect.secrets.of(kind, webhook);
  const refused = (message: string) => new Refused('signature', 401, message);

  if (method === 'POST' && body.length === 0) return emptyBody();
  const other = await suspect.secrets.other({ kind, webhook }, fits(version, body));
  if (other !== null) {
    return refused(
      `${kind} of webhook ${webhook} is signed with the secret of ${other}: the two secrets are mixed up.`,
    );
  }
  const original = method === 'POST' ? rewritten(body) : null;
  if (original !== null && (await anyOf(secrets, fits(version, join(original))))) return rewrittenBody();
  if (version === 'v3' && (await anyOf(secrets, fits('v2', body)))) {
    return refused(
      "v3 of X-Service-Signature does not match, though v2 does: X-Service-Origin or X-Service-Changed was changed or removed on its way. With accept: ['v2'] the receiver does without them.",
    );
  }
  if (version !== 'v1' && (await anyOf(secrets, fits('v1', body)))) {
    return refused(
      `${version} of X-Service-Signature does not match, though v1 does: a header of the delivery, the method, or path and query was changed on its way. Is "${target}" the path and query that the sender requested? A proxy or router that changes them breaks the signature: set target.`,
    );
  }
  const many = secrets.length === 1 ? 'the secret' : `any of the ${secrets.length} secrets`;
  const keys = `X-Service-Signature does not match ${many} for ${kind} of webhook ${webhook}. Is it that of this webhook? Each has its own, and regenerate-secret replaces it.`;
  if (method === 'GET') {
    return refused(
      `${keys} Is "${target}" the path and query that the sender requested? A proxy or router that changes them breaks the signature: set target.`,
    );
  }
  return refused(`${keys} Is the body (${body.length} bytes here) exactly as it came?`);
}

/** The message for a POST without a body. */
export function emptyBody(): Refused {
  return new Refused(
    'signature',
    401,
    'The body is empty: it was read before it got here (by a body parser?), or dropped by a proxy.',
  );
}

/** The message for a body of which only the {@link rewritten} form was signed. */
export function rewrittenBody(): Refused {
  return new Refused(
    'signature',
    401,
    'The body was parsed and serialized again before it got here: the signature matches its JSON, but not its bytes. Pass on the body as it came.',
  );
}

/** The message for a matching signature whose time is off. */
export function wrongTime(
  timestamp: number,
  { now, tolerance }: Pick<Judgment, 'now' | 'tolerance'>,
): Refused {
  const seconds = Math.round(now / 1_000 - timestamp);
  const off = `${Math.abs(seconds)} s ${seconds > 0 ? 'in the past' : 'in the future'}`;
  return new Refused(
    'time',
    401,
    `The signature is valid, but was made ${off} by the clock of this receiver, which says ${new Date(now).toISOString()} (${tolerance} s are allowed). The clock is wrong, or someone is replaying an old request.`,
  );
}

/** The body's JSON as the sender writes it, if it is JSON and is written differently. */
export function rewritten(body: Bytes): string | null {
  try {
    return JSON.stringify(JSON.parse(new TextDecoder().decode(body)));
  } catch {
    return null;
  }
}

async function anyOf(secrets: readonly string[], passes: (secret: string) => Promise<boolean>) {
  for (const secret of secrets) if (await passes(secret)) return true;
  return false;
}
