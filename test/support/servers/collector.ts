/** An OpenTelemetry collector for tests: accepts spans by OTLP over HTTP, as JSON or protobuf. */
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { parse } from 'protobufjs';
import * as v from 'valibot';

/** The part of opentelemetry-proto's `ExportTraceServiceRequest` that is read; the numbers are the standard's. */
const PROTO = `
  syntax = "proto3";
  message Request { repeated ResourceSpans resource_spans = 1; }
  message ResourceSpans { Resource resource = 1; repeated ScopeSpans scope_spans = 2; }
  message Resource { repeated KeyValue attributes = 1; }
  message ScopeSpans { repeated Span spans = 2; }
  message Span {
    bytes trace_id = 1; bytes span_id = 2; bytes parent_span_id = 4; string name = 5; int32 kind = 6;
    fixed64 start_time_unix_nano = 7; fixed64 end_time_unix_nano = 8;
    repeated KeyValue attributes = 9; repeated Link links = 13; Status status = 15;
  }
  message Link { bytes trace_id = 1; bytes span_id = 2; }
  message Status { string message = 2; int32 code = 3; }
  message KeyValue { string key = 1; AnyValue value = 2; }
  message AnyValue {
    oneof value { string string_value = 1; bool bool_value = 2; int64 int_value = 3; double double_value = 4; }
  }`;
const request = parse(PROTO).root.lookupType('Request');

const Values = v.object({
  stringValue: v.optional(v.string()),
  boolValue: v.optional(v.boolean()),
  intValue: v.optional(v.union([v.number(), v.string()])),
  doubleValue: v.optional(v.number()),
});
const Attributes = v.pipe(
  v.optional(v.array(v.object({ key: v.string(), value: Values })), []),
  v.transform((pairs) =>
    Object.fromEntries(
      pairs.map(({ key, value: { stringValue, boolValue, intValue, doubleValue } }) => [
        key,
        stringValue ?? boolValue ?? doubleValue ?? Number(intValue),
      ]),
    ),
  ),
);
const Id = v.optional(v.string(), '');
const Exported = v.object({
  resourceSpans: v.array(
    v.object({
      resource: v.object({ attributes: Attributes }),
      scopeSpans: v.array(
        v.object({
          spans: v.array(
            v.object({
              traceId: Id,
              spanId: Id,
              parentSpanId: Id,
              name: v.string(),
              kind: v.number(),
              attributes: Attributes,
              links: v.optional(v.array(v.object({ traceId: Id, spanId: Id })), []),
              status: v.optional(
                v.object({ code: v.optional(v.number(), 0), message: v.optional(v.string(), '') }),
                {},
              ),
            }),
          ),
        }),
      ),
    }),
  ),
});

/** A span as it arrived; ids in hexadecimal, `parentSpanId` empty if it has none. */
export type CollectedSpan = v.InferOutput<
  typeof Exported
>['resourceSpans'][number]['scopeSpans'][number]['spans'][number] & { readonly service: string };

/** OTLP's numbers. */
export const spanKind = { internal: 1, server: 2, client: 3, producer: 4, consumer: 5 } as const;

export interface Collector {
  /** For `OTEL_EXPORTER_OTLP_ENDPOINT`. */
  readonly url: string;
  readonly spans: readonly CollectedSpan[];
  /** Each request: its body, as raw bytes and as text, and its headers. */
  readonly requests: readonly {
    readonly path: string;
    readonly headers: IncomingHttpHeaders;
    readonly text: string;
  }[];
  close(): Promise<void>;
}

/** @param hangs accepts requests but never answers */
export async function createCollector({ hangs = false } = {}): Promise<Collector> {
  const spans: CollectedSpan[] = [];
  const requests: { path: string; headers: IncomingHttpHeaders; text: string }[] = [];
  const server = createServer((incoming, response) => {
    const chunks: Buffer[] = [];
    incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
    incoming.on('end', () => {
      const body = Buffer.concat(chunks);
      const { headers, url: path = '' } = incoming;
      requests.push({ path, headers, text: body.toString('latin1') });
      if (hangs) return;
      const json = headers['content-type'] === 'application/json';
      for (const { resource, scopeSpans } of v.parse(
        Exported,
        json ? JSON.parse(body.toString()) : decoded(body),
      ).resourceSpans) {
        const service = String(resource.attributes['service.name']);
        spans.push(...scopeSpans.flatMap((scope) => scope.spans).map((span) => ({ ...span, service })));
      }
      response.writeHead(200, { 'content-type': headers['content-type'] });
      response.end(json ? '{}' : undefined);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    spans,
    requests,
    async close() {
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
    },
  };
}

/** The same form as JSON: ids in hexadecimal. */
function decoded(body: Uint8Array): unknown {
  const message = request.toObject(request.decode(body), { longs: Number });
  return JSON.parse(
    JSON.stringify(message, (_key, value: unknown) => {
      const bytes = v.safeParse(v.object({ type: v.literal('Buffer'), data: v.array(v.number()) }), value);
      return bytes.success ? Buffer.from(bytes.output.data).toString('hex') : value;
    }),
  );
}
