import { createServer, type IncomingMessage, type OutgoingHttpHeaders, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { Duplex } from "node:stream";
import type { TestScope } from "@coffer/testkit";
import { coffer, type Outcome, type Start } from "../command.ts";

export interface Found {
  check: string;
  status: "ok" | "warn" | "problem";
  message: string;
  advice: string | null;
}

/** Runs `coffer doctor --json`; the findings by check, and the exit code. */
export async function doctor(
  home: string,
  args: string[],
  options: Start = {},
): Promise<Pick<Outcome, "code" | "stdout" | "stderr"> & { of(check: string): Found[]; all: Found[] }> {
  const outcome = await coffer(home, ["doctor", "--json", ...args], options);
  const { findings } = JSON.parse(outcome.stdout) as { findings: Found[] };
  return { ...outcome, all: findings, of: (check) => findings.filter((each) => each.check === check) };
}

type Reply = [status: number, body: unknown, headers?: OutgoingHttpHeaders];

/** A server that answers as it is told, as what stands between a person and Coffer may do. */
export async function startStranger(
  t: TestScope,
  answer: (request: IncomingMessage, url: string) => Reply | undefined,
  upgrade?: (socket: Duplex) => void,
): Promise<string> {
  const server = createServer((request: IncomingMessage, response: ServerResponse) => {
    const [status, body, headers = {}] = answer(request, url) ?? [404, { error: "not_found", message: "nothing" }];
    response.writeHead(status, headers);
    response.end(typeof body === "string" ? body : JSON.stringify(body));
  });
  if (upgrade !== undefined) server.on("upgrade", (_request, socket: Duplex) => upgrade(socket));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.teardown(() => {
    server.closeAllConnections();
    return new Promise((resolve) => server.close(resolve));
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return url;
}

/** The headers of Coffer's limiter. */
export function limit(left: number, of = 300): OutgoingHttpHeaders {
  return { "ratelimit-policy": `"user";q=${of};w=60`, ratelimit: `"user";r=${left};t=60` };
}

/** What Coffer answers about itself; the second request has one less left. */
export function asCoffer(change: (url: string) => { body?: object; headers?: OutgoingHttpHeaders } = () => ({})) {
  let left = 300;
  return (request: IncomingMessage, url: string): Reply | undefined => {
    if (request.url !== "/.well-known/jwks.json") return undefined;
    left -= 1;
    const { body = {}, headers = {} } = change(url);
    return [200, { keys: [], base_urls: [url], ...body }, { ...limit(left), ...headers }];
  };
}
