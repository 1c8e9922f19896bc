/** The receiver of `waybill listen`: verifies requests with the receiver's kit, and answers or forwards them. */
import { createServer } from 'node:http';
import { entityIdIn, entityIdInTarget } from '../../receiver/src/delivery.ts';
import type { ReceivedRequest as Received } from '../../receiver/src/judgment.ts';
import { nodeListener } from '../../receiver/src/node.ts';
import { readBody } from '../../receiver/src/read-body.ts';
import { Refused } from '../../receiver/src/refused.ts';
import { responseTo } from '../../receiver/src/responses.ts';
import { secretSource } from '../../receiver/src/secrets.ts';
import { type VerifiedHeaders, verify } from '../../receiver/src/verify.ts';
import { listen } from '../lib/listen.ts';
import { reasonOf, UserError } from '../lib/user-error.ts';

export interface ReceivedRequest extends Pick<Received, 'method' | 'target'> {
  readonly at: Date;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** The verified delivery; null if it is not from this instance. */
  readonly delivery: (VerifiedHeaders & { readonly entityId: string | null }) | null;
  /** Why it was not verified, or could not be forwarded. */
  readonly problem: string | null;
  readonly status: number;
  /** The time until the response, in milliseconds. */
  readonly tookMs: number;
}

/** How far the time of a signature may be off, in seconds. */
const TOLERANCE_S = 300;
/** Headers of a single connection, or of the encoding of its body. */
const NOT_PASSED_ON = [
  'host',
  'connection',
  'keep-alive',
  'transfer-encoding',
  'upgrade',
  'content-length',
  'content-encoding',
];

function passedOn(headers: Headers): Headers {
  const copy = new Headers(headers);
  for (const name of NOT_PASSED_ON) copy.delete(name);
  return copy;
}

/** The program that requests are forwarded to. */
interface Forwarding {
  /** For example `http://localhost:3000`; path and query are the request's, as its signature covers them. */
  readonly origin: string;
  /** In milliseconds: the time-out of the sender. */
  readonly timeoutMs: number;
}

async function forwarded({ origin, timeoutMs }: Forwarding, { method, target, headers, body }: Received) {
  const response = await fetch(`${origin}${target}`, {
    method,
    headers: passedOn(headers),
    ...(method === 'POST' ? { body } : {}),
    redirect: 'manual',
    signal: AbortSignal.timeout(timeoutMs),
  });
  const { status } = response;
  const empty = status === 204 || status === 205 || status === 304;
  return new Response(empty ? null : await response.arrayBuffer(), {
    status,
    headers: passedOn(response.headers),
  });
}

function whyNotForwarded({ origin, timeoutMs }: Forwarding, error: unknown): string {
  if (error instanceof Error && error.name === 'TimeoutError')
    return `${origin} did not answer within ${timeoutMs / 1_000} s.`;
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  const code = cause instanceof Error && 'code' in cause ? ` (${String(cause.code)})` : '';
  return `${origin} cannot be reached${code}.`;
}

/**
 * Starts the receiver on loopback.
 * @param options.port 0 for a free one
 * @param options.forwardTo null if it answers by itself
 * @param options.onRequest called with each request once it is answered
 * @throws UserError if the port is taken
 */
export async function startListening(options: {
  readonly port: number;
  readonly secret: string;
  readonly forwardTo: Forwarding | null;
  readonly onRequest: (request: ReceivedRequest) => void;
}) {
  const { secret, forwardTo, onRequest } = options;
  const secrets = secretSource(secret);

  async function answer(
    received: Received,
  ): Promise<Pick<ReceivedRequest, 'delivery' | 'problem'> & { response: Response }> {
    const { method, target, body } = received;
    let delivery: ReceivedRequest['delivery'];
    try {
      const terms = {
        secrets,
        publicKeys: null,
        accept: ['v3', 'v2'],
        tolerance: TOLERANCE_S,
        now: Date.now(),
      } as const;
      const verified = await verify(received, terms);
      const text = new TextDecoder().decode(body);
      const entityId = method === 'GET' ? entityIdInTarget(target) : entityIdIn(verified.kind, text);
      delivery = { ...verified, entityId };
    } catch (error) {
      const problem = reasonOf(error);
      return { delivery: null, problem, response: responseTo(error) };
    }
    if (forwardTo === null)
      return { delivery, problem: null, response: new Response('Received by waybill listen.\n') };
    try {
      return { delivery, problem: null, response: await forwarded(forwardTo, received) };
    } catch (error) {
      const problem = whyNotForwarded(forwardTo, error);
      return { delivery, problem, response: new Response(`${problem}\n`, { status: 502 }) };
    }
  }

  const listener = nodeListener(async (request, context) => {
    const at = new Date();
    const began = performance.now();
    const { method, headers } = request;
    const { pathname, search } = new URL(request.url);
    const target = context?.requestTarget ?? `${pathname}${search}`;
    const body = await readBody(request).catch((error: unknown) => {
      if (error instanceof Refused) return error;
      throw error;
    });
    if (body instanceof Refused) return responseTo(body);
    const { response, ...result } = await answer({ method, target, headers, body });
    onRequest({
      at,
      method,
      target,
      headers: Object.fromEntries(headers),
      body: new TextDecoder().decode(body),
      ...result,
      status: response.status,
      tookMs: Math.round(performance.now() - began),
    });
    return response;
  });
  const server = createServer((incoming, outgoing) => void listener(incoming, outgoing));
  return await listen(server, options.port).catch((error: unknown) => {
    throw new UserError(`Cannot listen on port ${options.port} of 127.0.0.1: ${reasonOf(error)}.`);
  });
}
