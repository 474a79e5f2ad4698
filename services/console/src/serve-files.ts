import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import { commonHeaders } from "@coffer/console-app/headers";
import { type BuiltFile, type Coding, sha256 } from "@coffer/console-app/manifest";
import { ServiceError } from "@coffer/errors";
import { createObserve, createRefusals, heldTags, pathOf, requestIdOf } from "@coffer/http";
import type { Telemetry } from "@coffer/telemetry";
import { chooseForm } from "./choose-form.ts";
import { pagePaths } from "@coffer/console-app/paths";

interface Form {
  tag: string;
  headers: readonly string[];
  bytes: Buffer;
}

interface Served {
  forms: ReadonlyMap<Coding, Form>;
  /** How the metrics name it. */
  route: string;
}

/** Makes the listener that answers with these files, and with 404 for every other path. */
export function serveFiles(files: readonly BuiltFile[], telemetry: Telemetry): RequestListener {
  const served = new Map<string, Served>();
  for (const file of files) {
    const entry = prepare(file);
    for (const path of file.kind === "page" ? pagePaths : [`/${file.path}`]) served.set(path, entry);
  }
  const refusals = createRefusals([]);
  const observe = createObserve(telemetry);

  return (request, response) => {
    const began = performance.now();
    const entry = served.get(pathOf(request.url ?? "/"));
    const found = entry !== undefined && isRead(request) ? entry : undefined;
    response.once("close", () => {
      const context = { id: requestIdOf(request), method: request.method ?? "GET", route: found?.route ?? "unmatched" };
      observe(context, response.statusCode, (performance.now() - began) / 1000);
    });
    if (found !== undefined) send(request, response, found);
    else refuse(request, response);
  };

  function refuse(request: IncomingMessage, response: ServerResponse): void {
    for (const [name, value] of Object.entries(commonHeaders)) response.setHeader(name, value);
    refusals.request(request, response, new ServiceError("not_found", "there is nothing at this path"));
  }
}

function isRead({ method }: IncomingMessage): boolean {
  return method === "GET" || method === "HEAD";
}

function prepare({ path, kind, headers, forms }: BuiltFile): Served {
  const base = [...Object.entries(headers).flat(), "Vary", "Accept-Encoding"];
  const prepared = [...forms].map(([coding, bytes]): [Coding, Form] => {
    const tag = sha256(bytes).slice(0, 32);
    const coded = coding === "identity" ? [] : ["Content-Encoding", coding];
    return [coding, { tag, bytes, headers: [...base, ...coded, "ETag", `"${tag}"`] }];
  });
  return { forms: new Map(prepared), route: kind === "page" ? `/${path}` : "/assets/{file}" };
}

function send(request: IncomingMessage, response: ServerResponse, { forms }: Served): void {
  const { tag, headers, bytes } = chooseForm(forms, request.headers["accept-encoding"]);
  const all = [...headers, "X-Request-Id", requestIdOf(request)];
  const held = heldTags(request.headers["if-none-match"]);
  if (held.includes(tag) || held.includes("*")) {
    response.writeHead(304, all);
    response.end();
    return;
  }
  response.writeHead(200, [...all, "Content-Length", String(bytes.byteLength)]);
  response.end(request.method === "HEAD" ? undefined : bytes);
}
