/** Checks that a raw request is signed with a secret: computed from its raw headers, without code of the product. */
import { createHmac } from 'node:crypto';

/** A request as a receiver keeps it. */
export interface RawRequest {
  readonly method: string;
  /** Path and query as requested. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  /** The body; empty on GET. */
  readonly text: string;
}

/** The versions of the signatures in `X-Service-Signature` that were made with this secret. */
export function signedBy(secret: string, { method, path, headers, text }: RawRequest): string[] {
  const said = (name: string) => String(headers[`x-service-${name}`] ?? '');
  const [t = '', ...signatures] = said('signature').split(',');
  const time = t.slice('t='.length);
  const event = ['delivery', 'event-id', 'event', 'sequence', 'webhook'].map(said);
  const end = [said('test'), method, path, text];
  const joined = { v2: [], v3: [said('origin'), said('changed')] };
  const hex = (content: string) => createHmac('sha256', secret).update(content).digest('hex');
  const expected = [
    `v1=${hex(`${time}.${method === 'GET' ? path : text}`)}`,
    ...Object.entries(joined).map(
      ([version, written]) => `${version}=${hex([time, ...event, ...written, ...end].join('\n'))}`,
    ),
  ];
  return expected.filter((each) => signatures.includes(each)).map((each) => each.slice(0, 2));
}
