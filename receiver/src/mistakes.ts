/** Why a signature does not match: the usual mistakes of receivers, each tried before it is named. */
import { type Bytes, equalInConstantTime } from './bytes.ts';
import type { Judgement, ReceivedRequest } from './judgement.ts';
import { Refused } from './refused.ts';
import { type ServiceSignature, serviceV1 } from './signature.ts';

interface Suspect extends Judgement {
  readonly kind: string;
  readonly signature: ServiceSignature;
}

/** The sentence for a request that none of its secrets has signed. */
export async function noSignatureFits(request: ReceivedRequest, suspect: Suspect): Promise<Refused> {
  const { method, target, body } = request;
  const { kind, signature } = suspect;
  const secrets = await suspect.secrets.of(kind);
  const timestamp = signature.timestamp ?? 0;
  const madeWith = (content: string | Bytes) => async (secret: string) => {
    const expected = await serviceV1(secret, { timestamp, content });
    return signature.v1.some((given) => equalInConstantTime(given, expected));
  };
  const refused = (message: string) => new Refused('signature', 401, message);

  if (method === 'POST' && body.length === 0) {
    return refused(
      'The body is empty: it has been read before it came here (by a body parser?), or was dropped by a proxy.',
    );
  }
  const other = await suspect.secrets.otherKind(kind, madeWith(method === 'GET' ? target : body));
  if (other !== null) {
    return refused(`${kind} is signed with the secret of ${other}: the two secrets are mixed up.`);
  }
  const original = method === 'POST' ? rewritten(body) : null;
  if (original !== null && (await anyOf(secrets, madeWith(original)))) {
    return refused(
      'The body was parsed and written again before it came here: the signature matches its JSON, but not its bytes. Hand over the body as it came.',
    );
  }
  const many = secrets.length === 1 ? 'the secret' : `any of the ${secrets.length} secrets`;
  const keys = `X-Service-Signature does not match ${many} for ${kind}. Is it that of this webhook? Each has its own, and regenerate-secret replaces it.`;
  if (method === 'GET') {
    return refused(
      `${keys} Is "${target}" the path and query that the sender requested? A proxy or router that changes them breaks the signature: set target.`,
    );
  }
  return refused(`${keys} Is the body (${body.length} bytes here) exactly as it came?`);
}

/** The sentence for a good signature of another time. */
export function wrongTime(timestamp: number, { now, tolerance }: Judgement): Refused {
  const seconds = Math.round(now / 1_000 - timestamp);
  const off = `${Math.abs(seconds)} s ${seconds > 0 ? 'in the past' : 'in the future'}`;
  return new Refused(
    'time',
    401,
    `The signature is good, but was made ${off} by the clock of this receiver, which says ${new Date(now).toISOString()} (${tolerance} s are allowed). The clock is wrong, or somebody repeats an old request.`,
  );
}

/** The JSON of a body as the sender writes it, if it is JSON and was written differently. */
function rewritten(body: Bytes): string | null {
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
