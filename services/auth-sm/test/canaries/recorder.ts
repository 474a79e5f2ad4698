import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { TestScope } from "@coffer/testkit";

/** A request and its answer as they went over the wire. */
export interface Exchange {
  method: string;
  /** With the query. */
  path: string;
  headers: Readonly<Record<string, string>>;
  request: string;
  status: number;
  answer: string;
}

const own = ["host", "connection", "transfer-encoding", "content-length", "keep-alive"];

/** Stands before a service, passes everything on, and keeps it. */
export async function record(t: TestScope, service: { url: string }): Promise<{ url: string; exchanges: Exchange[] }> {
  const exchanges: Exchange[] = [];
  const server = createServer((incoming, outgoing) => {
    void (async () => {
      const chunks: Buffer[] = [];
      for await (const chunk of incoming) chunks.push(chunk as Buffer); // no encoding was set
      const request = Buffer.concat(chunks).toString();
      const { method = "", url: path = "" } = incoming;
      const headers = Object.fromEntries(
        Object.entries(incoming.headers).filter(([name]) => !own.includes(name)),
      ) as Record<string, string>; // none of those that come as lists is sent
      const response = await fetch(service.url + path, { method, headers, ...(request !== "" && { body: request }) });
      const answer = await response.text();
      exchanges.push({ method, path, headers, request, status: response.status, answer });
      const passed = [...response.headers].filter(([name]) => !own.includes(name) && name !== "content-encoding");
      outgoing.writeHead(response.status, Object.fromEntries(passed)).end(answer);
    })().catch((error: unknown) => outgoing.destroy(error as Error));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  t.teardown(async () => {
    server.closeAllConnections();
    server.close();
    await once(server, "close");
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, exchanges };
}
