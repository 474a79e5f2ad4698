import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { startTracing } from "@coffer/telemetry";
import type { TestScope } from "@coffer/testkit";
import { z } from "zod";

const attribute = z.object({ key: z.string(), value: z.record(z.string(), z.unknown()) });
const span = z.object({
  name: z.string(),
  kind: z.number(),
  traceId: z.string(),
  spanId: z.string(),
  parentSpanId: z.string().default(""),
  attributes: z.array(attribute),
  status: z.object({ code: z.number().default(0) }),
});
const exported = z.object({
  resourceSpans: z.array(z.object({ scopeSpans: z.array(z.object({ spans: z.array(span) })) })),
});

/** A span as it was exported, with its attributes as an object. */
export type Sent = Omit<z.infer<typeof span>, "attributes"> & { attributes: Record<string, unknown> };

export interface Collector {
  /** Ends tracing; returns all exported spans. */
  spans(): Promise<Sent[]>;
  /** Everything that was exported, as text. */
  sent(): string;
}

/** Turns tracing on in this process, and receives its spans as an OpenTelemetry collector does. */
export async function startCollector(t: TestScope): Promise<Collector> {
  const bodies: string[] = [];
  const server = createServer((request, response) => {
    let body = "";
    request.on("data", (chunk: Buffer) => (body += chunk.toString()));
    request.on("end", () => {
      bodies.push(body);
      response.end("{}");
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  t.teardown(() => server.close());
  const { port } = server.address() as AddressInfo; // it listens on a TCP port
  // The exporter reads the process's own environment.
  process.env["OTEL_EXPORTER_OTLP_ENDPOINT"] = `http://127.0.0.1:${port}`;
  process.env["OTEL_EXPORTER_OTLP_PROTOCOL"] = "http/json";
  const tracing = await startTracing("sync", process.env);
  t.teardown(() => tracing.close());
  return {
    spans: async () => {
      await tracing.close();
      return bodies
        .flatMap((body) => exported.parse(JSON.parse(body)).resourceSpans)
        .flatMap(({ scopeSpans }) => scopeSpans.flatMap(({ spans }) => spans))
        .map(({ attributes, ...rest }) => ({
          ...rest,
          attributes: Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]])),
        }));
    },
    sent: () => bodies.join("\n"),
  };
}
