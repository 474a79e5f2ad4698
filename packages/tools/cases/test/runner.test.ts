import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import t from "tap";
import { caseFile } from "../src/case-file.ts";
import { connect } from "../src/connection.ts";
import { readOptions } from "../src/options.ts";
import { runSteps } from "../src/run-case.ts";

type Listener = (request: IncomingMessage, response: ServerResponse) => void;

/** Runs a case's steps against a server with these responses. */
async function run(
  steps: unknown[],
  listener: Listener,
  forwarded = false,
): Promise<{ waits: number[]; urls: string[] }> {
  const urls: string[] = [];
  const waits: number[] = [];
  const server = createServer((request, response) => {
    urls.push(`${String(request.method)} ${String(request.url)}`);
    listener(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo; // it listens on a TCP port
  const connection = connect({ url: `http://127.0.0.1:${port}`, forwarded, onWait: (seconds) => waits.push(seconds) });
  const people = { owner: { accessToken: () => Promise.resolve("person") } };
  const parsed = caseFile.parse({ proves: ["1"], says: "It is so.", steps });
  try {
    await runSteps({ connection, people, audience: connection.url }, { thing: { id: "x" } }, parsed.steps);
  } finally {
    server.closeAllConnections();
    server.close();
  }
  return { waits, urls };
}

function reply(status: number, body?: unknown, headers: Record<string, string> = {}): Listener {
  return (_request, response) => {
    response.writeHead(status, { "content-type": "application/json", ...headers });
    response.end(body === undefined ? undefined : JSON.stringify(body));
  };
}

const get = (expect: object, more: object = {}) => ({ send: "GET /${thing.id}", expect, ...more });

await t.test("a failed step reports its number and the actual value", async (t) => {
  const ok = reply(200, { a: 1 }, { "x-one": "1" });
  t.same((await run([get({ status: 200, body: { a: 1 }, headers: { "x-one": "1" } })], ok)).urls, ["GET /x"]);
  const wrong = [
    { status: 201 },
    { status: 200, body: { a: 2 } },
    { status: 200, body: null },
    { status: 200, headers: { "x-one": "2" } },
    { status: 200, headers: { "x-two": "1" } },
  ];
  for (const expect of wrong)
    await t.rejects(run([get({ status: 200 }), get(expect)], ok), { name: "CaseFailure", message: /^step 2: / });
});

for (const status of [429, 503])
  await t.test(`at ${status} with Retry-After a case waits that long and sends again`, async (t) => {
    let refusals = 2;
    const limited: Listener = (request, response) => {
      refusals -= 1;
      reply(refusals < 0 ? 200 : status, {}, refusals < 0 ? {} : { "retry-after": "1" })(request, response);
    };
    t.same((await run([get({ status: 200 })], limited)).waits, [1, 1]);
  });

await t.test("a 503 without Retry-After fails at once", async (t) => {
  await t.rejects(run([get({ status: 200 })], reply(503, {})), { name: "CaseFailure" });
});

await t.test("a case that expects 429 does not wait, and fails when it does not come", async (t) => {
  const limited = reply(429, {}, { "retry-after": "60" });
  t.same((await run([get({ status: 429 })], limited)).waits, []);
  await t.rejects(run([get({ status: 429 })], reply(200, {})), { name: "CaseFailure" });
});

await t.test("with forwarded each case has one address, and others by name", async (t) => {
  const seen: unknown[] = [];
  await run(
    [get({ status: 200 }), get({ status: 200 }), get({ status: 200 }, { from: "another" })],
    (request, response) => {
      seen.push(request.headers["x-forwarded-for"]);
      reply(200, {})(request, response);
    },
    true,
  );
  t.match(seen[0], /^198\.1[89]\.\d+\.\d+$/);
  t.equal(seen[1], seen[0]);
  t.not(seen[2], seen[0]);
});

await t.test("saved values can be used, an unknown one is a mistake of the case", async (t) => {
  const answer = reply(200, { uid: "abc", list: [{ n: 7 }] }, { etag: '"1"' });
  const save = { uid: "body.uid", seven: "body.list.0.n", tag: "header.etag" };
  const { urls } = await run(
    [
      get({ status: 200 }, { save }),
      {
        send: "GET /${uid}?n=${seven}",
        headers: { "if-none-match": "${tag}" },
        expect: { status: 200, body: { uid: "${uid}" } },
      },
    ],
    answer,
  );
  t.same(urls, ["GET /x", "GET /abc?n=7"]);
  await t.rejects(run([get({ status: 200 }, { save: { no: "body.none" } })], answer), TypeError);
  await t.rejects(run([{ send: "GET /${nothing}", expect: { status: 200 } }], answer), TypeError);
});

await t.test("of requests at once every status is counted", async (t) => {
  let first = true;
  const once: Listener = (request, response) => {
    reply(first ? 200 : 401, {})(request, response);
    first = false;
  };
  const together = (statuses: object) => ({ together: { send: "POST /x" }, times: 4, expect: { statuses } });
  await run([together({ 200: 1, 401: 3 })], once);
  await t.rejects(run([together({ 200: 1, 401: 3 })], reply(401, {})), { name: "CaseFailure" });
  await t.rejects(run([together({ 401: 3 })], reply(401, {})), { name: "CaseFailure" });
});

await t.test("until repeats steps until they pass, and fails after its limit", async (t) => {
  let requests = 0;
  const later: Listener = (request, response) => {
    requests += 1;
    reply(requests < 4 ? 200 : 401, {})(request, response);
  };
  await run([{ until: get({ status: 401 }), within: 5 }], later);
  t.equal(requests, 4);
  await t.rejects(run([{ until: get({ status: 401 }), within: 0.2 }], reply(200, {})), { name: "CaseFailure" });
});

await t.test("the command line needs an address, and reports what is wrong", (t) => {
  t.same(readOptions(["--url", "http://localhost:8080/", "tokens", "--forwarded"]), {
    url: "http://localhost:8080",
    audience: "http://localhost:8080",
    forwarded: true,
    json: false,
    names: ["tokens"],
  });
  t.equal(readOptions(["--url", "http://a", "--audience", "https://b/"])?.audience, "https://b");
  t.equal(readOptions(["--help"]), null);
  for (const args of [[], ["--url"], ["--url", "localhost"], ["--url", "ftp://a"], ["--url", "http://a", "--loud"]])
    t.throws(() => readOptions(args), { name: "UsageError" });
  t.end();
});
