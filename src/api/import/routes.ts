/**
 * The import, `/warehouse/events/import`: thousands of changes in one request, NDJSON both ways, in constant memory.
 */
import type { Hono } from 'hono';
import { describeRoute } from 'hono-openapi';
import * as v from 'valibot';
import { createTurns } from '../../concurrency/turns.ts';
import { IMPORT_KEY_DAYS } from '../../db/records/import-keys.ts';
import { badRequest, Problem } from '../../domain/problem.ts';
import type { Allowance } from '../budget/allowance.ts';
import type { ApiDeps, ApiEnv } from '../deps.ts';
import { errorContent } from '../describe.ts';
import { describeSchema, resolved } from '../json-schema.ts';
import { type ApplyLine, createApplyLine, lineResultSchema, lineSchemaOf } from './apply.ts';
import { BATCH_LINES } from './batches.ts';
import { type Line, splitLines } from './lines.ts';
import { importOperations } from './operations.ts';
import { CHECK_MS, createAccess } from './still-allowed.ts';

const CONTENT_TYPE = 'application/x-ndjson';
const ACCEPTED = /^application\/(?:x-ndjson|ndjson|jsonl|x-jsonlines)\s*(?:;|$)/i;

/** Lines read without a result yet: while one batch is written, the next is read. */
const WINDOW = 2 * BATCH_LINES;
/** The same in bytes. */
const WINDOW_BYTES = 16 * 1024 * 1024;
/** Imports that write at the same time, each e-shop in turn: the pool keeps connections for everything else. */
const CONNECTIONS = 4;
/** Results not yet read by the client, in bytes; beyond this, reading the body pauses. */
const UNREAD_BYTES = 8 * 1024 * 1024;

/**
 * Lines → the text of their results, in the order of the lines.
 * @param turn called before each line, may wait
 * @param isOver true once no further line will be applied: the results end with those of the lines read so far
 * @param sent called with the size of each result in bytes
 */
function applyLines(
  apply: ApplyLine,
  turn: () => Promise<void>,
  isOver: () => boolean,
  sent: (bytes: number) => void,
): TransformStream<Line, Uint8Array> {
  const encoder = new TextEncoder();
  const open: Promise<void>[] = [];
  let last = Promise.resolve();
  let unanswered = 0;
  let bytesOpen = 0;
  return new TransformStream(
    {
      async transform(line, controller) {
        unanswered += 1;
        bytesOpen += line.bytes?.length ?? 0;
        await turn();
        const result = apply(line);
        const before = last;
        last = (async () => {
          const text = `${JSON.stringify(await result)}\n`;
          await before;
          const bytes = encoder.encode(text);
          sent(bytes.byteLength);
          controller.enqueue(bytes);
          unanswered -= 1;
          bytesOpen -= line.bytes?.length ?? 0;
          if (isOver() && unanswered === 0) controller.terminate();
        })();
        // If the client has gone, nothing handles its rejection.
        last.catch(() => {});
        open.push(last);
        while (open.length >= WINDOW || (bytesOpen >= WINDOW_BYTES && open.length > 0)) await open.shift();
      },
      flush: () => last,
    },
    { highWaterMark: 1 },
    { highWaterMark: UNREAD_BYTES, size: (chunk) => chunk.byteLength },
  );
}

/** The least that is charged for a chunk of the body, in bytes: a small one is as much work as a larger one. */
const CHUNK_BYTES = 1024;

/** Counts received bytes, and lets no more in while the e-shop's budget is used up. */
function metered(allowance: Allowance | undefined): TransformStream<Uint8Array, Uint8Array> {
  return new TransformStream({
    async transform(chunk, controller) {
      allowance?.spend(Math.max(chunk.byteLength, CHUNK_BYTES));
      await allowance?.paced();
      controller.enqueue(chunk);
    },
  });
}

/** Results that the client has not read yet, and the response: the request counts as in progress until its end. */
function underWay(allowance: Allowance | undefined) {
  const waiting = { writableLength: 0 };
  return {
    sent(bytes: number): void {
      waiting.writableLength += bytes;
      allowance?.spend(bytes);
    },
    response(results: ReadableStream<Uint8Array>): ReadableStream<Uint8Array> {
      const leave = allowance?.hold(waiting) ?? (() => {});
      return results.pipeThrough(
        new TransformStream({
          transform(chunk, controller) {
            waiting.writableLength -= chunk.byteLength;
            controller.enqueue(chunk);
          },
          flush: leave,
        }),
      );
    },
  };
}

const description = `Each line of the body is a JSON object and has the effect of the endpoint of its operation. Each gets one line in the response, in the same order, as soon as it and the lines before it are done.

${importOperations.map(({ name, endpoint }) => `- \`${name}\`: \`${endpoint}\``).join('\n')}

The line \`{"operation":"orderStatus","id":"10001","idempotencyKey":"wms-1","body":{"status":"processing"}}\` gets the result \`{"line":1,"idempotencyKey":"wms-1","statusCode":200,"message":"Order status changed.","id":"10001"}\`.

- The outcome is the same as if the lines were applied one after the other. The result of a rejected line says why; the other lines are not affected.
- Every line is applied completely or not at all. If the connection breaks, lines without a result may or may not have been applied: send them again with their \`idempotencyKey\`s (remembered for ${IMPORT_KEY_DAYS} days for lines that were applied), and none is applied twice. The same key with a different line returns 409.
- If the operator disables the e-shop, deletes the user, or replaces the password or the API key, the import ends within ${CHECK_MS / 1000} seconds: lines that have been read but not applied get 401, and the response ends.
- Empty lines are skipped, but counted in \`line\`. A line may be up to 1 MiB long; the body may be of any size, but must arrive within an hour.
- Read the response while you send: once 8 MiB of it is unread, the service stops reading your body.
- The status of the whole response is 200 once the body is being read; the outcome of each line is its own \`statusCode\`, including failures of the service (500, 503).`;

export function importRoutes(app: Hono<ApiEnv>, deps: ApiDeps): void {
  const turns = createTurns({ total: CONNECTIONS });
  const line = resolved(describeSchema(v.union(importOperations.map(lineSchemaOf)), 'input'));
  const result = resolved(describeSchema(lineResultSchema, 'output'));

  app.post(
    '/warehouse/events/import',
    describeRoute({
      operationId: 'importOperations',
      summary: 'Import operations of the warehouse',
      description,
      tags: ['Warehouse'],
      requestBody: { required: true, content: { [CONTENT_TYPE]: { schema: line } } },
      responses: {
        200: {
          description: 'One result per line.',
          content: { [CONTENT_TYPE]: { schema: result } },
        },
        400: { description: 'Bad Request: there is no body.', content: errorContent },
        415: {
          description: 'Unsupported Media Type: the body is not declared as NDJSON.',
          content: errorContent,
        },
      },
    }),
    async (c) => {
      if (!ACCEPTED.test((c.req.header('content-type') ?? '').trim()))
        throw new Problem(415, `The body must be NDJSON, sent with "content-type: ${CONTENT_TYPE}".`);
      const body = c.req.raw.body;
      if (body === null) throw badRequest('A body is required.');
      const { eshopId } = c.get('session');
      const access = createAccess(c.get('stillAllowed'), deps.importCheckMs);
      const allowance = c.get('allowance');
      const breathe = () => allowance?.slice();
      const apply = createApplyLine(deps, eshopId, c.get('requestId'), access, turns, allowance);
      const turn = async () => {
        // Also before a line that has arrived: the ones before it may have taken long to check.
        await allowance?.paced();
        await breathe();
      };
      const answer = underWay(allowance);
      const results = body
        .pipeThrough(metered(allowance))
        .pipeThrough(splitLines(breathe))
        .pipeThrough(applyLines(apply, turn, access.refused, answer.sent), {
          // Cancelling the body would close the connection before the last results are sent.
          preventCancel: true,
        });
      return c.body(answer.response(results), 200, { 'content-type': CONTENT_TYPE });
    },
  );
}
