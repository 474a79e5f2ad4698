import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { gunzipSync } from "node:zlib";

/** A request to the receiver, by its names in steps. */
export interface ReceivedRequest {
  method: string;
  path: string;
  query: Record<string, string>;
  headers: Record<string, unknown>;
  /** The JSON values of the body: a sequence, the items of a list, or the fields of a form. */
  body: unknown[];
}

/** A response that a case wants instead of the usual one. */
export interface WantedAnswer {
  status: number;
  headers: Readonly<Record<string, string>>;
  body: unknown;
}

/** Stands in for customers' SIEMs: accepts every format, below any path. */
export interface Receiver {
  url: string;
  requests: readonly ReceivedRequest[];
  /** Uses this response for the next `times` requests below a path. */
  answer(prefix: string, times: number, answer: WantedAnswer): void;
  close(): Promise<void>;
}

/** Listens at an http address; port 0 is a free one. */
export async function startReceiver(address: string): Promise<Receiver> {
  const { hostname, port } = new URL(address);
  const requests: ReceivedRequest[] = [];
  const wanted: { prefix: string; answer: WantedAnswer }[] = [];
  const server = createServer((request, response) => {
    take(request).then(
      (received) => {
        requests.push(received);
        const at = wanted.findIndex(({ prefix }) => received.path.startsWith(prefix));
        const [instead] = at === -1 ? [] : wanted.splice(at, 1);
        send(response, instead?.answer ?? rightAnswer(received));
      },
      () => response.writeHead(400).end(),
    );
  });
  server.listen(port === "" ? 80 : Number(port), hostname.replace(/^\[(.*)\]$/, "$1"));
  await once(server, "listening");
  return {
    url: `http://${hostname}:${(server.address() as AddressInfo).port}`, // a TCP port, not a pipe
    requests,
    answer(prefix, times, answer) {
      for (let time = 0; time < times; time += 1) wanted.push({ prefix, answer });
    },
    async close() {
      server.close();
      server.closeAllConnections();
      await once(server, "close");
    },
  };
}

async function take(request: IncomingMessage): Promise<ReceivedRequest> {
  const chunks: Buffer[] = [];
  for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk); // no encoding is set
  const { pathname, searchParams } = new URL(request.url ?? "", "http://receiver");
  const { method = "", headers } = request;
  const bytes = Buffer.concat(chunks);
  const text = (headers["content-encoding"] === "gzip" ? gunzipSync(bytes) : bytes).toString("utf8");
  const isForm = headers["content-type"] === "application/x-www-form-urlencoded";
  return {
    method,
    path: pathname,
    query: Object.fromEntries(searchParams),
    headers,
    body: isForm ? [Object.fromEntries(new URLSearchParams(text))] : valuesOf(text),
  };
}

/** The items of a list, or a sequence of values. Throws for anything else. */
function valuesOf(text: string): unknown[] {
  const values: unknown[] = [];
  let [start, depth, inString] = [0, 0, false];
  for (let at = 0; at < text.length; at += 1) {
    const character = text[at] ?? "";
    if (inString && character === "\\") at += 1;
    else if (character === '"') inString = !inString;
    else if (!inString && "{[".includes(character)) depth += 1;
    else if (!inString && "}]".includes(character)) {
      depth -= 1;
      if (depth > 0) continue;
      values.push(JSON.parse(text.slice(start, at + 1)));
      start = at + 1;
    }
  }
  if (text.slice(start).trim() !== "") throw new TypeError("the body is cut off");
  const [first] = values;
  return values.length === 1 && Array.isArray(first) ? (first as unknown[]) : values;
}

/** A receiver's response in the format of a path. */
function rightAnswer({ path, body }: ReceivedRequest): WantedAnswer {
  const answer = (status: number, answered?: unknown): WantedAnswer => ({ status, headers: {}, body: answered });
  if (path.endsWith("/services/collector/event")) return answer(200, { text: "Success", code: 0 });
  if (path.endsWith("/oauth2/v2.0/token"))
    return answer(200, { token_type: "Bearer", expires_in: 3599, access_token: "token-of-the-cases" });
  if (path.includes("/dataCollectionRules/")) return answer(204);
  if (path.endsWith("/api/v2/logs")) return answer(202, {});
  if (path.endsWith("/_bulk")) {
    const items = body.filter((_, at) => at % 2 === 0).map(() => ({ create: { status: 201 } }));
    return answer(200, { took: 1, errors: false, items });
  }
  return answer(404);
}

function send(response: ServerResponse, { status, headers, body }: WantedAnswer): void {
  response.writeHead(status, { "content-type": "application/json", ...headers });
  response.end(body === undefined ? undefined : JSON.stringify(body));
}
