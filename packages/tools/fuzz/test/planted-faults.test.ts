import type { ServerResponse } from "node:http";
import { serve } from "@coffer/http";
import { loadDescription } from "@coffer/openapi";
import t from "tap";
import { fuzzOperation } from "../src/run-fuzz.ts";
import type { Stage } from "../src/stage.ts";
import { createWire } from "../src/wire.ts";

const description = loadDescription();
const operation = description.find("POST", "/api/org/applications");
if (operation === undefined) throw new Error("the operation of this test is not described");

/** Findings for a server that refuses everything as described, except for the responses of `fault`. */
async function findingsIn(
  fault: (body: string, response: ServerResponse) => boolean,
  patience = 10_000,
): Promise<string[]> {
  const server = await serve(
    (request, response) => {
      const chunks: Buffer[] = [];
      request.on("data", (chunk: Buffer) => chunks.push(chunk));
      request.on("end", () => {
        if (!fault(Buffer.concat(chunks).toString("utf8"), response)) refuse(response, request.url ?? "");
      });
    },
    { host: "127.0.0.1", port: 0, drainSeconds: 0 },
  );
  const { url } = server;
  const stage: Stage = {
    ids: {},
    caller: () => ({ url, authorization: "Bearer x" }),
    facts: {},
    set: () => Promise.resolve(),
  };
  const wires = Array.from({ length: 4 }, () => createWire(url, patience));
  try {
    const options = { url, description, seed: "planted", count: 400, only: [] };
    const { findings } = await fuzzOperation(operation as NonNullable<typeof operation>, stage, wires, options); // checked above
    return findings.flatMap(({ problems }) => problems);
  } finally {
    for (const wire of wires) wire.close();
    await server.close();
  }
}

/** 404 for an undescribed path, else 400, as a service would. */
function refuse(response: ServerResponse, target: string): void {
  const described = target.split("?")[0] === "/api/org/applications";
  answer(response, described ? 400 : 404, { error: described ? "invalid_request" : "not_found" });
}

function answer(response: ServerResponse, status: number, body: object, headers: Record<string, string> = {}): void {
  response.writeHead(status, {
    "Content-Type": "application/json; charset=utf-8",
    "Cache-Control": "no-store",
    "X-Content-Type-Options": "nosniff",
    "X-Request-Id": "x",
    RateLimit: '"user";r=1;t=1',
    "RateLimit-Policy": '"user";q=1;w=1',
    ...headers,
  });
  response.end(JSON.stringify({ message: "x", request_id: "x", ...body }));
}

await t.test("a server without a fault has no findings", async (t) => {
  t.same(await findingsIn(() => false), []);
});

await t.test("a 5xx for one character is found", async (t) => {
  const problems = await findingsIn((body, response) => {
    if (!body.includes("\\u0000")) return false;
    answer(response, 500, { error: "internal_error" });
    return true;
  });
  t.ok(problems.length > 0);
  t.match(problems[0], /^the status is 500/);
});

await t.test("an answer that never comes is found", async (t) => {
  const problems = await findingsIn((body) => body.includes("jndi"), 200);
  t.ok(problems.includes("no answer within 200 ms"), problems.join());
});

await t.test("a connection that is cut is found", async (t) => {
  const problems = await findingsIn((body, response) => {
    if (!body.startsWith("[[[[")) return false;
    response.destroy();
    return true;
  });
  t.ok(problems.includes("the connection was closed without an answer"), problems.join());
});

await t.test("an accepted request that contradicts the description is found", async (t) => {
  const application = { id: "019a9e0f-2222-7222-8222-222222222222", name: "x", description: "" };
  const problems = await findingsIn((body, response) => {
    if (!/"name":(true|false|\d)/.test(body)) return false;
    answer(response, 201, { ...application, created_at: "2026-11-20T10:00:00.123456Z" });
    return true;
  });
  t.ok(
    problems.some((problem) => problem.includes("/name must be string")),
    problems.join(),
  );
});

await t.test("a response with an undescribed field is found", async (t) => {
  const problems = await findingsIn((body, response) => {
    if (!body.includes("\\ud800")) return false;
    answer(response, 400, { error: "invalid_request", stack: "at x" });
    return true;
  });
  t.ok(
    problems.some((problem) => problem.includes('"stack"')),
    problems.join(),
  );
});
