/**
 * The examination of a receiver with the kit's series. It uses the same sender as attempts, so its requests are
 * guarded, bounded and signed like theirs (docs/interface.md, W17).
 */
import { type Answer, examine } from '../../receiver/src/examination/examine.ts';
import type { TestRequest } from '../../receiver/src/examination/series.ts';
import type { AttemptRequest, Sender } from '../delivery/sender.ts';
import { entryOf, sampleChangesOf, sampleOf } from '../domain/catalogue.ts';
import type { Examine } from '../domain/examination.ts';
import { payloadOf } from '../domain/payload.ts';
import { Problem } from '../domain/problem.ts';
import { newSigningKeyPair, privateKeyOf } from '../secrets/signing-keys.ts';
import { addressedTo } from './prepare.ts';
import type { TestSenderDeps } from './test-sender.ts';

interface ExaminerDeps extends TestSenderDeps {
  readonly sender: Pick<Sender, 'send' | 'certificateEnd'>;
  /** The time-out of one request, in milliseconds: the sender's own. */
  readonly timeoutMs: number;
}

/** Extra time for the sender, in milliseconds: it must time out by itself, and say why, before it is cut off. */
const SLACK_MS = 250;

export function createExaminer({ sender, keys, timeoutMs }: ExaminerDeps): Examine {
  return async (webhook, signal) => {
    const { eshopId, url, method, webhookType: eventType, now } = webhook;
    const snapshot = sampleOf(eventType);
    const { idField } = entryOf(eventType);
    const { secrets, signingKeys = [], ...addressed } = addressedTo(keys, webhook);
    const written = { origin: 'service', changed: sampleChangesOf(eventType) } as const;
    const fixed = { ...addressed, eventType, ...written, test: true } as const;
    const keysOf = {
      own: signingKeys,
      stranger: signingKeys.map(() => privateKeyOf(newSigningKeyPair().privateKey)),
    };
    const subject = {
      method,
      body: payloadOf({ ...webhook, eventType, entityId: '', snapshot }).body,
      idField,
      numbered: typeof Reflect.get(snapshot, idField) === 'number',
      secrets,
      now,
    };
    const send = async ({ age, signers, ...request }: TestRequest, ms: number): Promise<Answer> => {
      // Not by the database's clock: if that is wrong, the receiver would refuse every signature.
      const at = new Date(Date.now() - age * 1_000);
      const signedBy = signers.flatMap((signer) => keysOf[signer]);
      const sent = { ...fixed, ...request, signingKeys: signedBy, happenedAt: now, at };
      return await answerOf(sender, sent, ms + SLACK_MS, signal);
    };
    const certificateEnd = () => sender.certificateEnd({ eshopId, url });
    return await examine({ subject, send, certificateEnd, timeoutMs });
  };
}

/** @throws Problem (503); the reason of `stop` */
async function answerOf(
  sender: Pick<Sender, 'send'>,
  request: AttemptRequest,
  ms: number,
  stop?: AbortSignal,
): Promise<Answer> {
  const start = performance.now();
  const timeIsUp = AbortSignal.timeout(Math.ceil(ms));
  try {
    const result = await sender.send(
      request,
      stop === undefined ? timeIsUp : AbortSignal.any([timeIsUp, stop]),
    );
    const { outcome, status, error, durationMs, responseHeaders: headers = {} } = result;
    if (outcome === 'internal')
      throw new Problem(503, `The receiver could not be examined: ${error}. Try again.`);
    const firewall = 'firewall' in result ? result.firewall : undefined;
    const named = firewall === undefined ? {} : { firewall };
    return { status, error: status === null ? error : null, durationMs, headers, ...named };
  } catch (error) {
    stop?.throwIfAborted();
    if (!(error instanceof DOMException && error.name === 'AbortError')) throw error;
    const durationMs = Math.round(performance.now() - start);
    return { status: null, error: 'no answer in time', durationMs, headers: {} };
  }
}
