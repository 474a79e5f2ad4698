import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import { gunzipSync } from "node:zlib";

export interface Received {
  path: string;
  type: string;
  headers: IncomingHttpHeaders;
  body: Buffer;
}

export interface Receiver {
  readonly url: string;
  readonly received: Received[];
}

/** An HTTP server that accepts everything from an OTLP exporter. */
export async function startReceiver(t: { teardown(work: () => unknown): unknown }): Promise<Receiver> {
  const received: Received[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const sent = Buffer.concat(chunks);
      const body = request.headers["content-encoding"] === "gzip" ? gunzipSync(sent) : sent;
      const type = request.headers["content-type"] ?? "";
      received.push({ path: request.url ?? "", type, headers: request.headers, body });
      response.writeHead(200, { "content-type": type }).end(type === "application/json" ? "{}" : "");
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.teardown(() => {
    server.closeAllConnections();
    return new Promise((resolve) => server.close(resolve));
  });
  const { port } = server.address() as AddressInfo; // it listens on a TCP port
  return { url: `http://127.0.0.1:${port}`, received };
}
