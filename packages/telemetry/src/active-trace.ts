import { isSpanContextValid, type Span, trace } from "@opentelemetry/api";
import { isTracing } from "./tracing-state.ts";

/** The ids of the active span, as log fields. Empty outside a span and without tracing. */
export function activeTrace(): { trace_id?: string; span_id?: string } {
  const span = activeSpan();
  if (span === undefined) return {};
  const { traceId, spanId } = span.spanContext();
  return { trace_id: traceId, span_id: spanId };
}

/** The active span, if tracing is on and there is one. */
export function activeSpan(): Span | undefined {
  if (!isTracing()) return undefined;
  const span = trace.getActiveSpan();
  return span !== undefined && isSpanContextValid(span.spanContext()) ? span : undefined;
}
