/** The headers of a delivery, as received. */
import { Refused } from './refused.ts';

/** A header that every delivery has. @throws Refused if it is missing */
export function header(headers: Headers, name: string): string {
  const value = headers.get(name);
  if (value !== null && value !== '') return value;
  const why =
    'This is not a delivery, or something between the sender and this receiver (a proxy, a framework) removes it.';
  throw new Refused('headers', 401, `The header ${name} is missing. ${why}`);
}

/** The values of the headers, unchanged. @throws Refused if one is missing or malformed */
export function headersOf(headers: Headers) {
  const number = (name: string) => {
    const value = header(headers, name);
    if (!/^\d{1,15}$/.test(value)) throw new Refused('headers', 401, `${name} is not a number.`);
    return value;
  };
  const happenedAt = new Date(header(headers, 'X-Service-Event-Time'));
  if (Number.isNaN(happenedAt.getTime()))
    throw new Refused('headers', 401, 'X-Service-Event-Time is not a time.');
  return {
    id: header(headers, 'X-Service-Delivery'),
    eventId: header(headers, 'X-Service-Event-Id'),
    kind: header(headers, 'X-Service-Event'),
    sequence: number('X-Service-Sequence'),
    webhook: number('X-Service-Webhook'),
    attempt: number('X-Service-Attempt'),
    happenedAt,
    origin: headers.get('X-Service-Origin') ?? '',
    changed: headers.get('X-Service-Changed') ?? '',
    test: headers.get('X-Service-Test') === 'true',
  };
}

/** The result of {@link headersOf}. */
export type HeaderValues = ReturnType<typeof headersOf>;
