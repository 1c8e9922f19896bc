/**
 * Traces by OpenTelemetry's SDK, loaded only if an endpoint is configured. Spans are sent in the background from a
 * bounded queue: a hanging collector delays nothing.
 */
import {
  type Context,
  DiagLogLevel,
  diag,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  trace,
} from '@opentelemetry/api';
import { parseTraceParent, setGlobalErrorHandler } from '@opentelemetry/core';
import { detectResources, envDetector, resourceFromAttributes } from '@opentelemetry/resources';
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  BatchSpanProcessor,
  ParentBasedSampler,
  type Sampler,
  type SpanExporter,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from '@opentelemetry/sdk-trace';
import type { Settings } from '../config/variables.ts';
import { atMost } from '../lib/at-most.ts';
import { currentTrace, type OpenSpan, type TraceContext, type Traces, traceStorage } from './traces.ts';

/** Spans in one request to the collector. */
const MAX_SPANS_PER_EXPORT = 512;
/** How long waiting spans may take to be sent when the process ends, in milliseconds. */
const FLUSH_MS = 3_000;

/**
 * Starts recording; the exporter reads endpoint and headers from the variables of the specification.
 * @param serviceName unless the environment names another
 * @param onEvent called with the reason when spans were lost; may be called often
 */
export async function recordTraces(
  settings: Settings,
  { serviceName, version }: { readonly serviceName: string; readonly version: string },
  onEvent: (error: unknown) => void,
): Promise<Traces & { readonly stop: () => Promise<void> }> {
  const tell = (message: string) => onEvent(new Error(message));
  const logger = { error: tell, warn: tell, info() {}, debug() {}, verbose() {} };
  diag.setLogger(logger, { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true });
  setGlobalErrorHandler(onEvent);
  const resource = resourceFromAttributes({ 'service.name': serviceName, 'service.version': version });
  const provider = new TracerProvider({
    resource: resource.merge(detectResources({ detectors: [envDetector] })),
    sampler: samplerOf(settings.OTEL_TRACES_SAMPLER, settings.OTEL_TRACES_SAMPLER_ARG),
    spanProcessors: [
      new BatchSpanProcessor({
        exporter: await exporterOf(settings.OTEL_EXPORTER_OTLP_PROTOCOL),
        maxQueueSize: settings.OTEL_BSP_MAX_QUEUE_SIZE,
        maxExportBatchSize: Math.min(MAX_SPANS_PER_EXPORT, settings.OTEL_BSP_MAX_QUEUE_SIZE),
        scheduledDelayMillis: settings.OTEL_BSP_SCHEDULE_DELAY,
      }),
    ],
  });
  const tracer = provider.getTracer('waybill', version);

  return {
    begin({ name, kind, parent, attributes = {} }) {
      const span = tracer.startSpan(name, { kind: SpanKind[kind], attributes }, parentOf(parent));
      return openSpan(span);
    },
    /** Stops recording, and sends the waiting spans within a time limit. */
    async stop() {
      await atMost(FLUSH_MS, provider.shutdown().catch(onEvent));
    },
  };
}

function openSpan(span: Span): OpenSpan {
  const { traceId, spanId, traceFlags } = span.spanContext();
  const flags = traceFlags.toString(16).padStart(2, '0');
  const context: TraceContext = { traceId, spanId, traceparent: `00-${traceId}-${spanId}-${flags}` };
  let ended = false;
  return {
    context,
    set: (attributes) => void span.setAttributes(attributes),
    rename: (name) => void span.updateName(name),
    within: (work) => traceStorage.run(context, work),
    end(failure) {
      if (ended) return;
      ended = true;
      if (failure !== undefined) {
        const { type, message } = failure;
        span.setAttribute('error.type', type);
        span.setStatus({ code: SpanStatusCode.ERROR, ...(message === undefined ? {} : { message }) });
      }
      span.end();
    },
  };
}

function parentOf(parent: string | null | undefined): Context {
  const traceparent = parent === undefined ? currentTrace()?.traceparent : parent;
  const remote = parseTraceParent(traceparent ?? '');
  return remote === null ? ROOT_CONTEXT : trace.setSpanContext(ROOT_CONTEXT, { ...remote, isRemote: true });
}

function samplerOf(name: Settings['OTEL_TRACES_SAMPLER'], ratio: number): Sampler {
  const root = name.endsWith('always_on')
    ? new AlwaysOnSampler()
    : name.endsWith('always_off')
      ? new AlwaysOffSampler()
      : new TraceIdRatioBasedSampler(ratio);
  return name.startsWith('parentbased_') ? new ParentBasedSampler({ root }) : root;
}

async function exporterOf(protocol: Settings['OTEL_EXPORTER_OTLP_PROTOCOL']): Promise<SpanExporter> {
  const { OTLPTraceExporter } = await (protocol === 'http/json'
    ? import('@opentelemetry/exporter-trace-otlp-http')
    : import('@opentelemetry/exporter-trace-otlp-proto'));
  return new OTLPTraceExporter();
}
