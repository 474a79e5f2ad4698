import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";
import type { TestScope } from "@coffer/testkit";

/** A proxy to the service that can change responses, and hold live sync connections. */
export interface Between {
  readonly url: string;
  /** Address of the service. */
  target: string;
  /** Changes a response's body. */
  rewrite: (path: string, body: string) => string;
  /** The number of upgrades that wait for a response, which they do not get. */
  readonly held: number;
}

/** Starts it on a free port. */
export async function startBetween(t: TestScope, target: string): Promise<Between> {
  const between = { url: "", target, rewrite: (_path: string, body: string) => body, held: 0 };
  const server = createServer((request, response) => {
    const { method = "GET", url: path = "/", headers } = request;
    const allowed = ["authorization", "content-type", "user-agent", "x-coffer-org", "if-none-match"];
    const forwarded = Object.entries(headers).filter(([name]) => allowed.includes(name)) as [string, string][];
    const answer = async (): Promise<void> => {
      const body = await buffer(request);
      const got = await fetch(between.target + path, {
        method,
        headers: forwarded,
        ...(body.length === 0 ? {} : { body }),
      });
      const text = between.rewrite(path, await got.text());
      response.writeHead(got.status, { "content-type": got.headers.get("content-type") ?? "text/plain" }).end(text);
    };
    answer().catch(() => response.destroy());
  });
  const sockets = new Set<{ destroy(): void }>();
  server.on("upgrade", (_request, socket) => {
    sockets.add(socket.on("error", () => undefined));
    between.held += 1;
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  t.teardown(() => {
    for (const socket of sockets) socket.destroy();
    server.closeAllConnections();
    server.close();
  });
  between.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return between;
}
