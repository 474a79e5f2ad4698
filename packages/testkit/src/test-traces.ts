import { startTracing } from "@coffer/telemetry";
import type { TestScope } from "./scope.ts";
import { type SpanReceiver, startSpanReceiver } from "./span-receiver.ts";

export { type SpanReceiver, startSpanReceiver } from "./span-receiver.ts";
export type { SentSpan } from "./trace-request.ts";

/**
 * Records the spans of this process from now on, and sends them to a receiver as OTLP in JSON.
 * @returns ends the recording; resolves with the receiver when it has everything
 */
export async function testTraces(t: TestScope, service: string): Promise<() => Promise<SpanReceiver>> {
  const receiver = await startSpanReceiver(t);
  const settings = {
    OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url,
    OTEL_EXPORTER_OTLP_PROTOCOL: "http/json",
    OTEL_BSP_SCHEDULE_DELAY: "200",
    // None is dropped, however fast they come.
    OTEL_BSP_MAX_QUEUE_SIZE: "1000000",
  };
  // The SDK reads the process's own environment, once.
  Object.assign(process.env, settings);
  const tracing = await startTracing(service, settings);
  for (const name of Object.keys(settings)) Reflect.deleteProperty(process.env, name);
  t.teardown(() => tracing.close());
  return async () => {
    await tracing.close();
    return receiver;
  };
}
