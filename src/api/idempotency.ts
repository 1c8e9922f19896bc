/**
 * `Idempotency-Key`: a request is executed once, however often it is sent (docs/interface.md, C21). One transaction
 * locks the key, executes the request and stores the response. So a killed process leaves no effect without a stored
 * response, and no locked key.
 */
import { createHash } from 'node:crypto';
import type { Context, MiddlewareHandler } from 'hono';
import * as v from 'valibot';
import {
  type CreatedRecord,
  claimKey,
  STORED_RESPONSE_HOURS,
  storeResponse,
} from '../db/stored-responses.ts';
import { transaction } from '../db/transaction.ts';
import { described } from '../domain/fields.ts';
import { badRequest, conflict, Problem } from '../domain/problem.ts';
import { omitFields } from '../domain/validation.ts';
import type { Keys, ResponseOwner } from '../secrets/keys.ts';
import { chargeTime } from './budget/allowance.ts';
import type { ApiDeps, ApiEnv } from './deps.ts';
import { answer } from './envelope.ts';
import { describeSchema, documents } from './json-schema.ts';

export const IDEMPOTENCY_KEY = 'Idempotency-Key';
const REPLAYED = 'idempotency-replayed';
const PRINTABLE = /^[\x20-\x7e]{1,255}$/;
const READS: ReadonlySet<string> = new Set(['GET', 'HEAD']);

/** The body as the handler validates it later, with the rules beyond the schema. */
interface LaterValidated {
  readonly schema: v.GenericSchema<unknown, object>;
  readonly responseOnly: readonly string[];
  /** The record that the request creates. */
  readonly record?: (body: object) => CreatedRecord;
}

/** A record has at most 256 KiB (docs/interface.md, C8), so every response can be stored. */
interface StoredResponse {
  readonly fingerprint: string;
  readonly status: 200 | 409;
  readonly body: string;
}

const header = describeSchema(
  v.object({
    [IDEMPOTENCY_KEY]: described(
      v.optional(v.pipe(v.string(), v.regex(PRINTABLE))),
      `Unique for this request, such as a UUID: 1–255 printable ASCII characters. A request repeated with the same key within ${STORED_RESPONSE_HOURS} hours is not executed again, but gets its first response, with \`Idempotency-Replayed: true\`.`,
    ),
  }),
  'input',
);

const marked = new WeakSet<object>();

/** Whether a handler is one of {@link idempotent}. */
export const acceptsKey = (handler: object): boolean => marked.has(handler);

/**
 * Refuses a malformed key, and a key for a write that does not support one: accepting it would be a false promise.
 * @throws Problem 400
 */
export const checkedKey: MiddlewareHandler<ApiEnv> = async (c, next) => {
  const key = c.req.header(IDEMPOTENCY_KEY);
  if (key !== undefined && !READS.has(c.req.method)) {
    if (c.get('acceptsKey') !== true)
      throw badRequest('This operation takes no Idempotency-Key: send the request without one.');
    if (!PRINTABLE.test(key))
      throw badRequest('Idempotency-Key must consist of 1 to 255 printable ASCII characters.');
  }
  await next();
};

/**
 * Executes a request with a key once. Mount it after the validation.
 * @param later for a body that the handler validates
 */
export function idempotent(
  { sql, keys }: Pick<ApiDeps, 'sql' | 'keys'>,
  later?: LaterValidated,
): MiddlewareHandler<ApiEnv> {
  const handler: MiddlewareHandler<ApiEnv> = async (c, next) => {
    const key = c.req.header(IDEMPOTENCY_KEY);
    if (key === undefined) return await next();
    const { eshopId, role } = c.get('session');
    const owner = { eshopId, role, key };
    const body = chargeTime(c.get('allowance'), () => bodyOf(c, later));
    const fingerprint = fingerprintOf(c, body);
    await transaction(sql, async (tx) => {
      const stored = await claimKey(tx, owner);
      if (stored === 'inProgress') {
        throw new Problem(409, 'The request with this Idempotency-Key is under way: wait for its answer.', {
          'retry-after': '1',
        });
      }
      if (stored !== 'acquired') {
        c.res = repeated(c, opened(keys, stored, owner), fingerprint);
        return;
      }
      await transaction(tx, async (own) => {
        c.set('sql', own);
        await next();
        if (c.error !== undefined) throw c.error;
      }).catch((error: unknown) => {
        // The work is undone, and the response stored: this request is refused with 409 from now on.
        if (!(error instanceof Problem && error.status === 409)) throw error;
      });
      const status = c.error === undefined ? 200 : 409;
      const first: StoredResponse = { fingerprint, status, body: await c.res.clone().text() };
      const sealed = keys.encryptSecret(JSON.stringify(first), owner);
      await storeResponse(tx, owner, sealed, later?.record?.(body) ?? null);
    }).catch((error: unknown) => {
      // Answered already; the key is free again.
      if (error !== c.error) throw error;
    });
  };
  marked.add(handler);
  return documents(handler, 'header', header);
}

/** The body as validated, so that equivalent bodies are equal; as sent, if the handler will refuse it. */
function bodyOf(c: Context<ApiEnv>, later: LaterValidated | undefined): object {
  const json = validated(c, 'json') ?? {};
  if (later === undefined) return json;
  const result = v.safeParse(later.schema, omitFields(json, later.responseOnly));
  return result.success ? result.output : json;
}

function validated(c: Context<ApiEnv>, target: 'json' | 'query'): object | undefined {
  // Its type comes from the middleware of the route, which is not known here.
  const found: object | undefined = Reflect.apply(c.req.valid, c.req, [target]);
  return found;
}

function fingerprintOf(c: Context<ApiEnv>, body: object): string {
  const request = [c.req.method, c.req.path, validated(c, 'query') ?? {}, body];
  return createHash('sha256').update(JSON.stringify(request, sortKeys)).digest('base64');
}

/** For `JSON.stringify`: objects with their fields in the order of their names. */
function sortKeys(_name: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** @throws Problem 409 if no key can decrypt it */
function opened(keys: Pick<Keys, 'decryptSecret'>, sealed: Buffer, owner: ResponseOwner): StoredResponse {
  try {
    return JSON.parse(keys.decryptSecret(sealed, owner));
  } catch {
    throw conflict(
      'The request with this Idempotency-Key was done, but its answer can no longer be read: read the record instead.',
    );
  }
}

/** @throws Problem 422 if the key came with another request */
function repeated(c: Context<ApiEnv>, stored: StoredResponse, fingerprint: string): Response {
  if (stored.fingerprint !== fingerprint)
    throw new Problem(422, 'This Idempotency-Key belongs to another request: use a new one.');
  c.header(REPLAYED, 'true');
  return answer(c, stored.body, stored.status);
}
