import {
  type Attributes,
  type Context,
  context,
  propagation,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  trace,
} from "@opentelemetry/api";
import { redacted, scrub } from "./scrub.ts";
import { isSecretName } from "./secret-names.ts";
import { isTracing } from "./tracing-state.ts";

export type SpanKindName = "server" | "client" | "producer" | "consumer" | "internal";

/** Headers that carry a trace. */
export type TraceCarrier = Record<string, string>;

const kinds = {
  internal: SpanKind.INTERNAL,
  server: SpanKind.SERVER,
  client: SpanKind.CLIENT,
  producer: SpanKind.PRODUCER,
  consumer: SpanKind.CONSUMER,
} as const satisfies Record<SpanKindName, SpanKind>;

const tracer = trace.getTracer("coffer");
const noSpan = trace.wrapSpanContext({ traceId: "0".repeat(32), spanId: "0".repeat(16), traceFlags: 0 });

/**
 * Runs `run` in a span that ends with the result: at once, or when the returned promise settles.
 * Returns and throws as `run` does. Records an error by its type and, unless it is the caller's fault (a
 * status below 500), marks the span as failed. Without tracing this is a plain call.
 *
 * `parent` is the result of `extractTrace`; without it the active span is the parent.
 */
export function span<T>(
  name: string,
  attributes: Attributes,
  kind: SpanKindName,
  run: (span: Span) => T,
  parent?: Context,
): T {
  if (!isTracing()) return run(noSpan);
  const options = { kind: kinds[kind], attributes: allowed(attributes) };
  return tracer.startActiveSpan(name, options, parent ?? context.active(), (started) => endWith(started, run));
}

function endWith<T>(started: Span, run: (span: Span) => T): T {
  let result: T;
  try {
    result = run(started);
  } catch (error) {
    fail(started, error);
    started.end();
    throw error;
  }
  if (!isThenable(result)) {
    started.end();
    return result;
  }
  result.then(
    () => started.end(),
    (error: unknown) => {
      fail(started, error);
      started.end();
    },
  );
  return result;
}

const isThenable = (value: unknown): value is PromiseLike<unknown> =>
  typeof value === "object" && value !== null && "then" in value && typeof value.then === "function";

function fail(started: Span, error: unknown): void {
  const status = error instanceof Error && "status" in error ? Number(error.status) : NaN;
  started.setAttribute("error.type", error instanceof Error ? codeOf(error) : typeof error);
  if (!(status < 500)) started.setStatus({ code: SpanStatusCode.ERROR });
}

const codeOf = (error: Error): string => ("code" in error && typeof error.code === "string" ? error.code : error.name);

function allowed(attributes: Attributes): Attributes {
  const safe: Attributes = {};
  for (const [name, value] of Object.entries(attributes))
    safe[name] = isSecretName(name) ? redacted : typeof value === "string" ? scrub(value) : value;
  return safe;
}

/** Writes the active trace into headers (`traceparent`), if there is one. Returns the carrier. */
export function injectTrace<Carrier extends TraceCarrier>(carrier: Carrier): Carrier {
  if (isTracing()) propagation.inject(context.active(), carrier);
  return carrier;
}

/** The trace of headers, as the parent for `span`. No parent without one, or without tracing. */
export function extractTrace(carrier: Readonly<Record<string, unknown>>): Context {
  return isTracing() ? propagation.extract(ROOT_CONTEXT, carrier) : ROOT_CONTEXT;
}
