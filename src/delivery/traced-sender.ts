/** A span for each request to a receiver, passed on to it in the header `traceparent`. */
import { type Traces, untraced } from '../traces/traces.ts';
import type { AttemptResult } from './answer.ts';
import type { AttemptRequest } from './request.ts';
import type { Sender } from './sender.ts';

export function tracedSender(sender: Sender, traces: Traces): Sender {
  if (traces === untraced) return sender;
  return {
    ...sender,
    async send(request, signal) {
      const { method, number } = request;
      const span = traces.begin({
        name: method,
        kind: 'CLIENT',
        attributes: {
          'http.request.method': method,
          ...addressOf(request),
          ...(number > 1 ? { 'http.request.resend_count': number - 1 } : {}),
        },
      });
      const traceparent = span.context?.traceparent;
      try {
        const parent = traceparent === undefined ? {} : { traceparent };
        const result = await sender.send({ ...request, ...parent }, signal);
        if (result.status !== null) span.set({ 'http.response.status_code': result.status });
        span.end(failureOf(result));
        return { ...result, ...parent };
      } catch (error) {
        span.end({ type: 'aborted' });
        throw error;
      }
    },
  };
}

/** The address of the request, without path and query, which may be confidential. */
function addressOf({ url }: Pick<AttemptRequest, 'url'>) {
  if (!URL.canParse(url)) return {};
  const { protocol, hostname, port, origin } = new URL(url);
  const usual = protocol === 'https:' ? 443 : 80;
  return {
    'server.address': hostname,
    'server.port': port === '' ? usual : Number(port),
    'url.full': `${origin}/REDACTED`,
  };
}

function failureOf({ outcome, status, error }: AttemptResult) {
  if (outcome === 'success') return undefined;
  if (status !== null) return { type: String(status) };
  return { type: outcome === 'internal' ? 'interrupted' : 'no_answer', message: error };
}
