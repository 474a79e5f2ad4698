import { gzipSync } from "node:zlib";
import t from "tap";
import { caseFile } from "../src/case-file.ts";
import { connect } from "../src/connection.ts";
import { readOptions } from "../src/options.ts";
import { startReceiver } from "../src/receiver.ts";
import { runSteps } from "../src/run-case.ts";

const receiver = await startReceiver("http://127.0.0.1:0");
t.teardown(() => receiver.close());

const run = (steps: unknown[], at: typeof receiver | null = receiver) => {
  const connection = connect({ url: "http://127.0.0.1:9", forwarded: false });
  const parsed = caseFile.parse({ proves: ["6.2"], says: "It is so.", needs: "receiver", steps });
  return runSteps(
    { connection, people: {}, audience: connection.url, receiver: at ?? undefined },
    { tag: "a" },
    parsed.steps,
  );
};
const post = async (path: string, body: string | Buffer<ArrayBuffer>, headers: Record<string, string> = {}) => {
  const answer = await fetch(receiver.url + path, { method: "POST", body, headers });
  const text = await answer.text();
  return { status: answer.status, body: text === "" ? null : (JSON.parse(text) as unknown) };
};

await t.test("it answers as the receiver of each format, and stores requests", async (t) => {
  t.match(await post("/a/services/collector/event", '{"event":{"x":"}{"}}\n{"event":"\\""}'), { body: { code: 0 } });
  t.match(
    await post("/b/tenant/oauth2/v2.0/token", new URLSearchParams({ scope: "s" }).toString(), {
      "content-type": "application/x-www-form-urlencoded",
    }),
    { status: 200, body: { access_token: /./ } },
  );
  t.match(await post("/b/dataCollectionRules/dcr/streams/s", '[{"Id":1}]'), { status: 204 });
  t.match(await post("/c/api/v2/logs", gzipSync('[{"a":1},{"a":2}]'), { "content-encoding": "gzip" }), { status: 202 });
  t.match(await post("/d/_bulk", '{"create":{"_id":"1"}}\n{"x":1}\n{"create":{"_id":"2"}}\n{"x":2}\n'), {
    status: 200,
    body: { errors: false, items: [{ create: { status: 201 } }, { create: { status: 201 } }] },
  });
  t.match(await post("/e", "{}"), { status: 404 });
  t.match(await post("/f", '{"cut":'), { status: 400 });
  t.same(
    receiver.requests.map(({ path, body }) => [path, body]),
    [
      ["/a/services/collector/event", [{ event: { x: "}{" } }, { event: '"' }]],
      ["/b/tenant/oauth2/v2.0/token", [{ scope: "s" }]],
      ["/b/dataCollectionRules/dcr/streams/s", [{ Id: 1 }]],
      ["/c/api/v2/logs", [{ a: 1 }, { a: 2 }]],
      ["/d/_bulk", [{ create: { _id: "1" } }, { x: 1 }, { create: { _id: "2" } }, { x: 2 }]],
      ["/e", [{}]],
    ],
  );
});

await t.test("a step waits for a request, and reports others", async (t) => {
  await run([{ received: "/${tag}/", request: { body: { $includes: { event: '"' } } } }]);
  await t.rejects(run([{ received: "/a/", request: { body: [] }, within: 0.1 }]), {
    name: "CaseFailure",
    message: /^step 1: what was sent to \/a\/.body/,
  });
  await t.rejects(run([{ received: "/never/", request: {}, within: 0.1 }]), {
    message: /nothing was sent to \/never\//,
  });
  await run([{ untouched: "/never/" }]);
  await run([{ untouched: "/a/", request: { path: "/another" } }]);
  await t.rejects(run([{ untouched: "/a/" }]), { name: "CaseFailure", message: /expected nothing/ });
  await t.rejects(run([{ untouched: "/a/" }], null), TypeError);
});

await t.test("a case chooses the next answers below a path", async (t) => {
  await run([{ answers: "/g/", times: 1, status: 503, headers: { "retry-after": "1" }, body: { code: 9 } }]);
  t.match(await post("/h/api/v2/logs", "[]"), { status: 202 });
  t.match(await post("/g/api/v2/logs", "[]"), { status: 503, body: { code: 9 } });
  t.match(await post("/g/api/v2/logs", "[]"), { status: 202 });
});

await t.test("the address of the receiver is http, without a path", (t) => {
  const url = ["--url", "http://127.0.0.1:8080"];
  t.equal(readOptions([...url, "--receiver", "http://127.0.0.1:9090/"])?.receiver, "http://127.0.0.1:9090");
  t.equal(readOptions(url)?.receiver, undefined);
  for (const address of ["https://127.0.0.1:9090", "http://127.0.0.1/x", "127.0.0.1:9090"])
    t.throws(() => readOptions([...url, "--receiver", address]), { name: "UsageError", message: /--receiver/ });
  t.end();
});
