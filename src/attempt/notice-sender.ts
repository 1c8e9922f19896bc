/**
 * One request that sends a notice to the URL of its e-shop (docs/interface.md, N7), signed with the e-shop's secret
 * for notices.
 */
import type { NoticeRequest } from '../delivery/notice-request.ts';
import type { AttemptResult, Sender } from '../delivery/sender.ts';
import type { SecretKeys } from './prepare.ts';

interface NoticeToSend extends Omit<NoticeRequest, 'secret'> {
  /** Sealed. */
  readonly secret: Buffer;
}

/**
 * @throws Error if the secret cannot be opened; DOMException `AbortError` if `signal` aborts before a response has
 * arrived
 */
export type SendNotice = (notice: NoticeToSend, signal: AbortSignal) => Promise<AttemptResult>;

export function createNoticeSender({
  sender,
  keys,
}: {
  readonly sender: Pick<Sender, 'sendNotice'>;
  readonly keys: SecretKeys;
}): SendNotice {
  return async ({ secret, ...notice }, signal) => {
    const opened = keys.decryptSecret(secret, { eshopId: notice.eshopId, of: 'notices' });
    return await sender.sendNotice({ ...notice, secret: opened }, signal);
  };
}
