import { subscribe } from "node:diagnostics_channel";
import type { IncomingMessage, ServerResponse } from "node:http";
import { exchangeProblems } from "./check-exchange.ts";
import { loadDescription } from "./description.ts";
import type { Exchange } from "./exchange.ts";

interface Recording {
  readonly request: Buffer[];
  readonly answer: Buffer[];
}

/** The paths of the interface; others are not described. */
const described = /^\/(?:api|\.well-known)\//;

/**
 * Compares every exchange of this process' HTTP servers with the description.
 * @param report called with one line for each deviation
 */
export function watchServers(report: (line: string) => void): void {
  const recordings = new WeakMap<ServerResponse, Recording>();
  subscribe("http.server.request.start", (message) => {
    const { request, response } = message as Pair; // as Node documents the channel
    if (described.test(request.url ?? "")) recordings.set(response, record(request, response));
  });
  subscribe("http.server.response.finish", (message) => {
    const { request, response } = message as Pair; // as Node documents the channel
    const recording = recordings.get(response);
    if (recording === undefined) return;
    const problems = exchangeProblems(loadDescription(), exchangeOf(request, response, recording));
    if (problems.length === 0) return;
    const path = (request.url ?? "").split("?")[0] ?? "";
    report(`${request.method ?? ""} ${path}, answered ${response.statusCode}: ${problems.join("; ")}`);
  });
}

interface Pair {
  request: IncomingMessage;
  response: ServerResponse;
}

/** Records the two streams of an exchange. */
function record(request: IncomingMessage, response: ServerResponse): Recording {
  const recording: Recording = { request: [], answer: [] };
  const push = request.push.bind(request);
  request.push = (chunk: unknown, encoding?: BufferEncoding) => {
    if (chunk instanceof Uint8Array) recording.request.push(Buffer.from(chunk));
    return push(chunk, encoding);
  };
  for (const name of ["write", "end"] as const) {
    const send = response[name].bind(response) as (...args: unknown[]) => never;
    response[name] = (...args: unknown[]) => {
      const [chunk] = args;
      if (typeof chunk === "string" || chunk instanceof Uint8Array) recording.answer.push(Buffer.from(chunk));
      return send(...args);
    };
  }
  return recording;
}

function exchangeOf(request: IncomingMessage, response: ServerResponse, recording: Recording): Exchange {
  const headers = headersOf(response);
  return {
    method: request.method ?? "",
    target: request.url ?? "",
    requestHeaders: new Headers(
      Object.entries(request.headers).map(([name, value]): [string, string] => [name, String(value)]),
    ),
    requestBody: recording.request.length === 0 ? undefined : Buffer.concat(recording.request).toString("utf8"),
    status: response.statusCode,
    headers,
    body: request.method === "HEAD" ? "" : Buffer.concat(recording.answer).toString("utf8"),
  };
}

/** The headers as written: Node stores repeated ones only as text. */
function headersOf(response: ServerResponse): Headers {
  // The types of Node leave out this member.
  const { _header: head } = response as unknown as { _header: string | null };
  const lines = (head ?? "").split("\r\n").slice(1);
  return new Headers(
    lines.flatMap((line): [string, string][] => {
      const colon = line.indexOf(":");
      return colon === -1 ? [] : [[line.slice(0, colon), line.slice(colon + 1).trim()]];
    }),
  );
}
