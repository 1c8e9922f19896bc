/** The request that sends a notice to an e-shop's own URL (docs/interface.md, N7). */
import { requestTarget } from '../domain/request-target.ts';
import { type AttemptRequest, userAgentOf, type WireRequest } from './request.ts';
import { standardSignature } from './signature.ts';

export interface NoticeRequest extends Pick<AttemptRequest, 'eshopId' | 'url' | 'at'> {
  /** The same on every try. */
  readonly noticeId: string;
  readonly secret: string;
  /** JSON text. */
  readonly body: string;
}

/**
 * A POST with the headers of Standard Webhooks and none of a delivery's.
 * @param version Waybill's own, for `User-Agent`
 * @throws TypeError if the URL is not absolute
 */
export function buildNotice(
  { url, noticeId, secret, body, at }: NoticeRequest,
  version: string,
): WireRequest {
  const timestamp = Math.floor(at.getTime() / 1000);
  const signed = { secrets: [secret], timestamp, deliveryId: noticeId, body };
  return {
    ...requestTarget(url, null),
    method: 'POST',
    headers: {
      'user-agent': userAgentOf(version),
      'accept-encoding': 'identity',
      'content-type': 'application/json',
      'webhook-id': noticeId,
      'webhook-timestamp': String(timestamp),
      'webhook-signature': standardSignature(signed),
    },
    body,
  };
}
