import { randomUUID } from "node:crypto";
import { gzipSync } from "node:zlib";
import { scanDocuments } from "@coffer/events";
import t from "tap";
import { z } from "zod";
import { startScanner } from "./scanner.ts";
import { personalToken } from "./secrets.ts";

const service = await startScanner(t);
const { authSm, audit, scan } = service;
const orgId = randomUUID();
const person = await authSm.person({ orgId });
const machine = authSm.machine(orgId);
const one = (content: string, path = "src/app.env") => ({ documents: [{ path, content }] });

await t.test(
  "a secret in a document is found at its place, redacted, and counted in the audit before the answer",
  async (t) => {
    const token = personalToken();
    const content = `A=1\nTOKEN="${token}"\n`;
    for (const [caller, actor] of [
      [person, { type: "user", id: person.userId, session_id: person.sessionId }],
      [machine, { type: "client", id: machine.clientId }],
    ] as const) {
      const { status, body } = await scan(caller, one(content), { headers: { "user-agent": "ci/1" } });
      t.equal(status, 200);
      t.match(body.findings, [
        {
          kind: "code-host personal token",
          rule_id: "github-personal-token",
          confidence: "high",
          checksum: "valid",
          length: 40,
          redacted: "ghp_***",
          fingerprint: /^cf1:[0-9a-f]{32}$/,
          locations: [{ path: "src/app.env", start_line: 2, start_column: 8, end_line: 2, end_column: 48 }],
        },
      ]);
      const bytes = content.length;
      t.strictSame(body.summary, { findings: 1, inputs: 1, bytes, binary_skipped: 0, complete: true, problems: [] });
      t.match(audit.records.at(-1), {
        org_id: orgId,
        action: "scanner.scanned",
        outcome: "success",
        actor,
        target: { type: "scan", id: null },
        count: 1,
        changes: { inputs: 1, bytes },
        source: { user_agent: "ci/1" },
        request: { method: "POST", route: "/api/scanner/scan", status: 200 },
      });
      t.notMatch(JSON.stringify(body), token);
    }
  },
);

await t.test("one secret in several documents is one finding with all its places", async (t) => {
  const token = personalToken();
  const documents = ["b.txt", "a.txt"].map((path) => ({ path, content: `x ${token} y ${token}` }));
  const { body } = await scan(person, { documents });
  t.equal(body.findings.length, 1);
  t.same(
    body.findings[0]?.locations.map(({ path, start_column }) => [path, start_column]),
    [
      ["a.txt", 3],
      ["a.txt", 46],
      ["b.txt", 3],
      ["b.txt", 46],
    ],
  );
  t.match(audit.records.at(-1), { count: 1, changes: { inputs: 2 } });
});

await t.test("base64 carries bytes: an archive is opened, and columns count UTF-16 code units", async (t) => {
  const token = personalToken();
  const content = gzipSync(`"😀ä" ${token}`).toString("base64");
  const { body } = await scan(person, { documents: [{ path: "a.gz", content, encoding: "base64" }] });
  t.match(body.findings, [{ locations: [{ path: "a.gz", start_line: 1, start_column: 7 }] }]);
  const binary = Buffer.concat([Buffer.alloc(100), Buffer.from(token)]).toString("base64");
  const skipped = await scan(person, { documents: [{ path: "a.bin", content: binary, encoding: "base64" }] });
  t.match(skipped.body, { findings: [], summary: { binary_skipped: 1, complete: true } });
});

await t.test("of a diff the added lines are scanned, with the numbers of the new file", async (t) => {
  const [added, kept, removed] = [personalToken(), personalToken(), personalToken()];
  const diff = [
    "diff --git a/x.env b/x.env",
    "--- a/x.env",
    "+++ b/x.env",
    "@@ -10,2 +10,2 @@",
    ` A=${kept}`,
    `-B=${removed}`,
    `+B=${added}`,
    "",
  ].join("\n");
  const { status, body } = await scan(person, { diff });
  t.equal(status, 200);
  t.match(body.findings, [{ locations: [{ path: "x.env", start_line: 11, start_column: 3 }] }]);
  t.equal(body.findings.length, 1);
  const both = await scan(person, { ...one(personalToken()), diff });
  t.match(both.body.summary, { findings: 2, inputs: 2 });
});

await t.test(
  "what is allowed by a comment and what is no secret is not reported; nothing at all may be sent too",
  async (t) => {
    t.match((await scan(person, one(`${personalToken()} # coffer:allow`))).body.findings, []);
    const wrong = personalToken().replace(/.$/, (last) => (last === "0" ? "1" : "0"));
    t.same((await scan(person, one(wrong))).body.findings, [], "a wrong checksum has low confidence");
    t.match((await scan(person, { documents: [] })).body, { findings: [], summary: { inputs: 0, complete: true } });
    t.match((await scan(person, { diff: "" })).body, { findings: [], summary: { complete: true } });
  },
);

await t.test("a request that is not of the described form is 400, one over the limits 413", async (t) => {
  const document = { path: "a", content: "b" };
  const malformed = [
    {},
    [],
    { documents: {} },
    { documents: ["a"] },
    { documents: [{ path: "a" }] },
    { documents: [{ content: "a" }] },
    { documents: [{ ...document, path: "" }] },
    { documents: [{ ...document, path: "a\nb" }] },
    { documents: [{ ...document, path: "a".repeat(1025) }] },
    { documents: [{ ...document, encoding: "latin1" }] },
    { documents: [{ ...document, content: "no base64", encoding: "base64" }] },
    { documents: [{ ...document, content: "YQ", encoding: "base64" }] },
    { diff: 1 },
    { diff: "not a diff" },
    "{",
  ];
  for (const body of malformed) {
    const answer = await scan(person, body, { ask: fetch });
    t.match(answer, { status: 400, body: { error: "invalid_request" } }, JSON.stringify(body).slice(0, 80));
    t.notMatch(JSON.stringify(answer.body), "no base64");
  }
  const many = (count: number) => ({ documents: Array.from({ length: count }, () => document) });
  t.equal((await scan(person, many(100))).status, 200);
  t.match(await scan(person, many(101)), { status: 413, body: { error: "payload_too_large" } });
  const half = "x\n".repeat((5 * 1024 * 1024) / 4);
  const full = { documents: [{ path: "a", content: half }], diff: `--- \n${half}`.slice(0, half.length) };
  t.equal((await scan(person, full)).status, 200, "5 MiB together");
  full.documents.push({ path: "b", content: "ä" });
  t.match(await scan(person, full), { status: 413, body: { error: "payload_too_large" } }, "a character more");
  t.equal((await scan(person, one("a".repeat(9 * 1024 * 1024)))).status, 413, "a body over 8 MiB");
});

await t.test("every other service may ask over the bus; that leaves no record", async (t) => {
  const token = personalToken();
  const before = audit.records.length;
  for (const name of ["auth-sm", "vaults", "sync", "billing-webhook", "siem-forwarder"] as const) {
    const bus = await service.connect(name);
    const answer = await bus.request(scanDocuments, one(token), { timeoutMilliseconds: 20_000 });
    t.match(answer, {
      findings: [{ rule_id: "github-personal-token", redacted: "ghp_***" }],
      summary: { complete: true },
    });
    t.notMatch(JSON.stringify(answer), token);
  }
  t.equal(audit.records.length, before);
});

await t.test("over the bus a request has at most 384 KiB, and a diff that is none is refused", async (t) => {
  const bus = await service.connect("vaults");
  const ask = (input: unknown) =>
    // Another service may not check what it sends.
    bus.request({ ...scanDocuments, input: z.unknown() }, input, { timeoutMilliseconds: 20_000 });
  t.match(await ask(one("a ".repeat(192 * 1024))), { summary: { bytes: 384 * 1024, complete: true } });
  await t.rejects(ask(one("a ".repeat(192 * 1024) + "a")), { code: "invalid_request" });
  const documents = Array.from({ length: 101 }, () => ({ path: "a", content: "" }));
  await t.rejects(ask({ documents }), { code: "invalid_request" });
  await t.rejects(ask({ diff: "no diff" }), { code: "invalid_request" });
});

await t.test("the rules are listed", async (t) => {
  const response = await fetch(`${service.url}/api/scanner/rules`, {
    headers: { authorization: `Bearer ${machine.token}` },
  });
  const { data } = (await response.json()) as { data: { id: string; kind: string; on: boolean }[] };
  t.equal(response.status, 200);
  t.ok(data.length > 69, `${data.length} rules`);
  t.match(
    data.find(({ id }) => id === "github-personal-token"),
    { kind: "code-host personal token", on: true },
  );
});
