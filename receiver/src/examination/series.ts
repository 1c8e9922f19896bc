/** The requests of an examination: the purpose of each, and the answer that it requires. */
import { newSecret } from '../secrets.ts';
import type { RowName } from './remedies.ts';

/** The webhook to examine, and the data for its requests. */
export interface Subject {
  readonly method: 'POST' | 'GET';
  /** The sample of the webhook's type, as JSON text; null on GET. */
  readonly body: string | null;
  /** The field of the sample that identifies it. */
  readonly idField: string;
  /** Whether that is a number, as for stock movements. */
  readonly numbered: boolean;
  /** The webhook's secrets, newest first: one, or two while one is being replaced. */
  readonly secrets: readonly string[];
  /** By the sender's clock. */
  readonly now: Date;
}

/** Values that a signature may cover instead of the ones sent. */
export type SignedAs = Partial<Pick<TestRequest, 'sequence' | 'entityId' | 'body'>>;

/** Whose private key signs: that of the webhook, or one that nobody knows. */
export type Signer = 'own' | 'stranger';

/** One request, before it is signed. It is always marked as a test. */
export interface TestRequest {
  readonly secrets: readonly string[];
  /** In the order of the signatures; none signs if the webhook is not asymmetric. */
  readonly signers: readonly Signer[];
  readonly deliveryId: string;
  readonly eventId: string;
  readonly sequence: number;
  /** 1 for a first attempt. */
  readonly number: number;
  /** How far the time of its signatures lies in the past, in seconds. */
  readonly age: number;
  readonly entityId: string;
  /** JSON text; null on GET. */
  readonly body: string | null;
  /** The signatures are those of a request with these values instead. */
  readonly signedAs?: SignedAs;
  /** It has no signature at all. */
  readonly unsigned?: true;
}

/** The value of `X-Waybill-Handled`: whether the receiver handled a delivery, or only acknowledged it. */
export type Handled = 'new' | 'repeat' | 'stale';

export interface Step {
  readonly name: RowName;
  /** The request, for people. */
  readonly sent: string;
  /** `accepted`: any 2xx. `refused`: anything else. `joined`: like `refused`, but accepting it is only a warning. */
  readonly expected: 'accepted' | 'refused' | 'joined';
  /** Permitted values of `X-Waybill-Handled`, if the header is there. */
  readonly handled?: readonly Handled[];
  readonly requests: readonly TestRequest[];
  /** All requests are made at the same moment. */
  readonly together?: true;
}

/** The maximum size of a record, in bytes. */
const MAX_RECORD_BYTES = 256 * 1024;
/** The maximum lengths of the texts in records without lines, in UTF-16 units. */
const LONGEST_TEXTS = { description: 10_000, note: 4_000 };
/** Three bytes long in UTF-8, the maximum for a UTF-16 unit. */
const WIDE = '€';
/** The maximum length of an identifier, in characters. */
const LONG_ID = 64;
/** A receiver must refuse a signature older than five minutes. */
const TOO_OLD_SECONDS = 6 * 60;
/** The sequence is not the first, so that there is a lower one. */
const SEQUENCE = 5;

/** All requests, in the order in which they are made: valid ones come first. */
export function seriesOf(subject: Subject): readonly Step[] {
  const { method, secrets, now } = subject;
  const otherSecret = newSecret();
  const ids = identifiers(subject);
  const body = (entityId: string, change: (record: object) => object = (record) => record) =>
    subject.body === null ? null : JSON.stringify(change(withId(subject, entityId)));
  /** A valid request with its own record, except for the given values. */
  const request = (given: Partial<TestRequest> = {}): TestRequest => {
    const entityId = given.entityId ?? ids();
    return {
      secrets,
      signers: ['own'],
      deliveryId: crypto.randomUUID(),
      eventId: crypto.randomUUID(),
      sequence: SEQUENCE,
      number: 1,
      age: 0,
      entityId,
      body: body(entityId),
      ...given,
    };
  };
  const first = request();
  const ofFirst = { entityId: first.entityId, body: first.body };
  const twice: Pick<TestRequest, 'secrets' | 'signers'>[] = [
    { secrets: [otherSecret, ...secrets], signers: ['stranger', 'own'] },
    { secrets: [...secrets, otherSecret], signers: ['own', 'stranger'] },
  ];
  const large = ids();
  const unknown = ids();
  const post = method === 'POST';

  return [
    {
      name: 'valid request',
      sent: `a ${method} with a sample, correctly signed`,
      expected: 'accepted',
      handled: ['new'],
      requests: [first],
    },
    {
      name: 'repeat',
      sent: 'the same delivery once more, as its second attempt',
      expected: 'accepted',
      handled: ['repeat', 'stale'],
      requests: [{ ...first, number: 2 }],
    },
    {
      name: 'older sequence',
      sent: 'an earlier event of the same record',
      expected: 'accepted',
      handled: ['new', 'stale'],
      requests: [request({ ...ofFirst, sequence: SEQUENCE - 2 })],
    },
    post
      ? {
          name: 'greatest payload',
          sent: 'a body as large as a record can be',
          expected: 'accepted',
          requests: [request({ entityId: large, body: body(large, grown) })],
        }
      : {
          name: 'longest identifier',
          sent: 'an identifier as long as one may be, percent-encoded',
          expected: 'accepted',
          requests: [request({ entityId: longest(ids(), subject.numbered) })],
        },
    ...(post
      ? [
          {
            name: 'unknown fields',
            sent: 'a body with fields that do not exist yet',
            expected: 'accepted',
            requests: [request({ entityId: unknown, body: body(unknown, extended) })],
          } as const,
        ]
      : []),
    {
      name: 'two signatures',
      sent: 'the valid signature after and before that of another secret or key, as during a rotation',
      expected: 'accepted',
      requests: twice.map((both) => request(both)),
    },
    {
      name: 'three at once',
      sent: 'three valid requests at the same time',
      expected: 'accepted',
      requests: [request(), request(), request()],
      together: true,
    },
    {
      name: 'wrong signature',
      sent: 'signatures made with another secret or key',
      expected: 'refused',
      requests: [request({ secrets: [otherSecret], signers: ['stranger'] })],
    },
    {
      name: 'no signature',
      sent: 'a request without any signature',
      expected: 'refused',
      requests: [request({ unsigned: true })],
    },
    post
      ? {
          name: 'signature of another body',
          sent: 'the signatures of another body',
          expected: 'refused',
          requests: [request({ signedAs: { body: first.body } })],
        }
      : {
          name: 'signature of another target',
          sent: 'the signatures of another path and query',
          expected: 'refused',
          requests: [request({ signedAs: { entityId: first.entityId } })],
        },
    {
      name: 'old timestamp',
      sent: `a valid request of ${new Date(now.getTime() - TOO_OLD_SECONDS * 1_000).toISOString()}, six minutes old`,
      expected: 'refused',
      requests: [request({ age: TOO_OLD_SECONDS })],
    },
    {
      name: 'only v1 matches',
      sent: 'a different sequence from the one that v2 and v3 cover',
      expected: 'joined',
      requests: [request({ signedAs: { sequence: SEQUENCE + 1 } })],
    },
  ];
}

/** Identifiers of records that do not exist, a new one each time. */
function identifiers({ numbered, now }: Subject): () => string {
  let next = Math.floor(now.getTime() / 1_000);
  if (numbered) {
    return () => {
      next += 1;
      return String(next);
    };
  }
  return () => `TEST-${crypto.randomUUID().replaceAll('-', '').slice(-16).toUpperCase()}`;
}

/** An identifier of the maximum length, with characters that need percent-encoding; a number stays as it is. */
function longest(id: string, numbered: boolean): string {
  return numbered ? id : `${id}/ ?é`.padEnd(LONG_ID, 'X');
}

function withId({ body, idField, numbered }: Subject, id: string): object {
  const record: object = JSON.parse(body ?? '{}');
  return { ...record, [idField]: numbered ? Number(id) : id };
}

/** The record with its lines repeated up to the maximum size; one without lines gets the longest texts. */
function grown(record: object): object {
  const size = new TextEncoder().encode(JSON.stringify(record)).length;
  const lists = Object.entries(record).filter(([, value]) => Array.isArray(value) && isObject(value[0]));
  const [longestList] = lists.sort(([, a], [, b]) => JSON.stringify(b).length - JSON.stringify(a).length);
  if (longestList === undefined) {
    const texts = Object.entries(LONGEST_TEXTS).filter(([name]) => name in record);
    return { ...record, ...Object.fromEntries(texts.map(([name, length]) => [name, WIDE.repeat(length)])) };
  }
  const [name, lines] = longestList;
  const perRound = new TextEncoder().encode(JSON.stringify(lines)).length - 1;
  const rounds = 1 + Math.max(0, Math.floor((MAX_RECORD_BYTES - size) / perRound));
  return { ...record, [name]: Array.from({ length: rounds }, () => lines).flat() };
}

/** The record with fields that no version has, in its lines as well. */
function extended(record: object): object {
  const more = { fieldOfALaterVersion: { amount: 1, names: ['a', 'b'] } };
  const within = Object.entries(record).map(([name, value]) => [
    name,
    Array.isArray(value) ? value.map((item) => (isObject(item) ? { ...item, ...more } : item)) : value,
  ]);
  return { ...Object.fromEntries(within), ...more };
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}
