/** A line of an import → its result. */
import * as v from 'valibot';
import type { Turns } from '../../concurrency/turns.ts';
import { fingerprintOf } from '../../db/records/import-keys.ts';
import { described, identifier, oneOf, text, wholeNumber } from '../../domain/fields.ts';
import { badRequest, invalid, Problem } from '../../domain/problem.ts';
import { isObject, validate } from '../../domain/validation.ts';
import { type Allowance, chargeTime } from '../budget/allowance.ts';
import type { ApiDeps } from '../deps.ts';
import { failureOf, reasonPhrase } from '../errors.ts';
import { parseJson } from '../json-body.ts';
import { createBatches } from './batches.ts';
import type { Line } from './lines.ts';
import { type ImportOperation, importOperations, type Prepared } from './operations.ts';
import type { Access } from './still-allowed.ts';

const [first, ...others] = importOperations;
const byName = new Map(importOperations.map((operation) => [operation.name, operation]));

const idempotencyKey = described(
  v.optional(text(128, 1)),
  'Chosen by you, unique per e-shop: the line is applied once, however often it is sent.',
);

const lineSchema = v.strictObject({
  operation: oneOf([first.name, ...others.map(({ name }) => name)]),
  id: v.optional(identifier()),
  idempotencyKey,
  body: v.record(v.string(), v.unknown(), 'must be a JSON object'),
});
type ParsedLine = v.InferOutput<typeof lineSchema>;

/** A line of one operation, for the documentation. */
export function lineSchemaOf({ name, named, body }: ImportOperation): v.GenericSchema {
  const id = described(identifier(), 'The identifier of the record.');
  const operation = v.literal(name);
  return named
    ? v.strictObject({ operation, id, idempotencyKey, body })
    : v.strictObject({ operation, idempotencyKey, body });
}

export const lineResultSchema = v.strictObject({
  line: described(wholeNumber(), 'The number of the line in the body, from 1.'),
  statusCode: described(wholeNumber(), 'The status that the endpoint of the operation would return.'),
  error: described(v.optional(v.string()), 'The standard phrase of a status that is not 200.'),
  message: described(v.string(), 'What was done, or why nothing was done.'),
  id: described(
    v.optional(v.union([v.string(), v.number()])),
    'The identifier of the record that was written.',
  ),
  idempotencyKey: described(v.optional(v.string()), 'The key of the line.'),
  repeated: described(
    v.optional(v.boolean()),
    'True if the line was already applied under its key, and nothing was done now.',
  ),
});
type LineResult = v.InferOutput<typeof lineResultSchema>;

/** @throws Problem 400, or 413 for a line that is too long */
function parseLine({ bytes }: Line): ParsedLine {
  if (bytes === null) throw new Problem(413, 'The line is longer than 1 MiB.');
  const value = parseJson(bytes, 'line');
  if (!isObject(value)) throw badRequest('The line must be a JSON object.');
  return validate(lineSchema, value);
}

/** @throws Problem 400 */
function prepare({ operation: name, id, body }: ParsedLine): Prepared {
  const operation = byName.get(name) ?? first;
  if (operation.named && id === undefined) throw invalid([{ path: 'id', message: 'is required' }]);
  if (!operation.named && id !== undefined)
    throw invalid([{ path: 'id', message: `${name} has none: leave it out` }]);
  return operation.prepare(id ?? '', body);
}

/** Applies lines, with the same outcome as one after the other in the order of the calls. Never throws. */
export type ApplyLine = (line: Line) => Promise<LineResult>;

/**
 * @param requestId names the request in the log and in the message of an internal failure
 * @param access checked before lines are written
 * @param turns shared by all imports: how many write at the same time, each e-shop in turn
 * @param allowance gives the slices in which lines are written, and pays for those that take long to check
 * (docs/interface.md, C15)
 */
export function createApplyLine(
  deps: ApiDeps,
  eshopId: number,
  requestId: string,
  access: Access,
  turns: Turns,
  allowance: Allowance | undefined,
): ApplyLine {
  const inBatches = createBatches(deps.sql, eshopId, access, turns, () => allowance?.slice());
  return async (line) => {
    const about: Pick<LineResult, 'line' | 'idempotencyKey'> = { line: line.number };
    try {
      if (access.refused()) await access.check();
      const { parsed, prepared } = chargeTime(allowance, () => {
        const parsed = parseLine(line);
        if (parsed.idempotencyKey !== undefined) about.idempotencyKey = parsed.idempotencyKey;
        return { parsed, prepared: prepare(parsed) };
      });
      const { operation, id, idempotencyKey: key } = parsed;
      const applied = await inBatches({
        prepared,
        id,
        keyed:
          key === undefined
            ? undefined
            : { key, fingerprint: fingerprintOf([operation, id, prepared.input]) },
        bytes: line.bytes?.length ?? 0,
      });
      return { ...about, statusCode: 200, ...applied };
    } catch (error) {
      const { status: statusCode, message, internal } = failureOf(error, requestId);
      if (internal) deps.log.error({ err: error, requestId, line: line.number }, 'line of an import failed');
      return { ...about, statusCode, error: reasonPhrase(statusCode), message };
    }
  };
}
