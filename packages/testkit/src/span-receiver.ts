import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import { gunzipSync } from "node:zlib";
import { readTraceRequest, type SentSpan } from "./trace-request.ts";

export interface Received {
  headers: IncomingHttpHeaders;
  body: Buffer;
  spans: readonly SentSpan[];
}

export interface SpanReceiver {
  readonly url: string;
  readonly received: readonly Received[];
  spans(): SentSpan[];
  /** All bodies, to search them for what must not be in them. */
  text(): string;
}

/**
 * Receives spans over OTLP/HTTP and accepts only what the protocol allows: what deviates is answered 400, and the
 * test fails at its end.
 */
export async function startSpanReceiver(t: { teardown(work: () => unknown): unknown }): Promise<SpanReceiver> {
  const received: Received[] = [];
  const refused: string[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const { method, url, headers } = request;
      const type = headers["content-type"] ?? "";
      try {
        if (method !== "POST" || url !== "/v1/traces") throw new Error(`${method} ${url} is not for traces`);
        const sent = Buffer.concat(chunks);
        const body = headers["content-encoding"] === "gzip" ? gunzipSync(sent) : sent;
        received.push({ headers, body, spans: readTraceRequest(type, body) });
        response.writeHead(200, { "content-type": type }).end(type === "application/json" ? "{}" : "");
      } catch (error) {
        refused.push(String(error));
        response.writeHead(400).end();
      }
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.teardown(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
    if (refused.length > 0) throw new Error(`exports that OTLP does not allow: ${refused.join("\n")}`);
  });
  const { port } = server.address() as AddressInfo; // it listens on a TCP port
  return {
    url: `http://127.0.0.1:${port}`,
    received,
    spans: () => received.flatMap(({ spans }) => spans),
    text: () => received.map(({ body }) => body.toString()).join("\n"),
  };
}
