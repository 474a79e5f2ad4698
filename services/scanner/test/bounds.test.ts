import { setTimeout as pause } from "node:timers/promises";
import { crc32, deflateRawSync, gzipSync } from "node:zlib";
import { scanDocuments } from "@coffer/events";
import { until } from "@coffer/testkit";
import t from "tap";
import { startScanner } from "./scanner.ts";
import { personalToken } from "./secrets.ts";

const mebibyte = 1024 * 1024;
const one = (content: string, path = "a") => ({ documents: [{ path, content }] });
const packed = (bytes: Buffer, path = "a") => ({
  documents: [{ path, content: bytes.toString("base64"), encoding: "base64" }],
});
/** Five levels of base64, each of which is decoded and searched: what costs the engine most. */
const nested = "VFZaWVZtRldSbFpXUmxwV1VteGFWbEpzV2xaU2JGcFdVbXhhVmxKcw".repeat(90_000);

/** A zip archive of these members, deflated. */
function zip(members: readonly (readonly [name: string, bytes: Buffer])[]): Buffer {
  const locals: Buffer[] = [];
  const centrals: Buffer[] = [];
  let offset = 0;
  for (const [name, bytes] of members) {
    const data = deflateRawSync(bytes);
    const fields = Buffer.alloc(26);
    fields.writeUInt16LE(20, 0);
    fields.writeUInt16LE(8, 4);
    fields.writeUInt32LE(crc32(bytes), 10);
    fields.writeUInt32LE(data.length, 14);
    fields.writeUInt32LE(bytes.length, 18);
    fields.writeUInt16LE(name.length, 22);
    const local = Buffer.concat([Buffer.from("PK\x03\x04"), fields, Buffer.from(name), data]);
    const rest = Buffer.alloc(14);
    rest.writeUInt32LE(offset, 10);
    centrals.push(Buffer.concat([Buffer.from("PK\x01\x02\x14\0"), fields, rest, Buffer.from(name)]));
    locals.push(local);
    offset += local.length;
  }
  const central = Buffer.concat(centrals);
  const end = Buffer.alloc(18);
  end.writeUInt16LE(members.length, 4);
  end.writeUInt16LE(members.length, 6);
  end.writeUInt32LE(central.length, 8);
  end.writeUInt32LE(offset, 12);
  return Buffer.concat([...locals, central, Buffer.from("PK\x05\x06"), end]);
}

await t.test("hostile input ends within the bound, and requests are answered meanwhile", async (t) => {
  const { scan, authSm, url } = await startScanner(t, { seams: { pool: { threads: 1 } } });
  const machine = authSm.machine();
  const repeated = (text: string) => one(text.repeat(Math.floor(mebibyte / text.length)));
  const bombs = gzipSync(Buffer.alloc(4 * mebibyte)).toString("base64");
  const hostile = {
    "a, 5 MiB of it": one("a".repeat(5 * mebibyte)),
    "-----BEGIN ": repeated("-----BEGIN "),
    "xoxb-1-1-1-": repeated("xoxb-1-1-1-"),
    AKIA: repeated("AKIA"),
    "ey.ey.ey.": repeated("ey.ey.ey."),
    "one line of source": repeated("const a = b + 1; "),
    "base64 of base64": one(nested),
    "gzip in base64": repeated(`${bombs};`),
    "a bomb": packed(gzipSync(Buffer.alloc(64 * mebibyte))),
    "an archive of bombs": packed(
      zip(Array.from({ length: 200 }, (_, index) => [`${index}.gz`, gzipSync(Buffer.alloc(4 * mebibyte))] as const)),
    ),
    "an archive of many members": packed(
      zip(Array.from({ length: 5_000 }, (_, index) => [String(index), Buffer.from("a")] as const)),
    ),
    "a diff of many files": { diff: "--- a\n+++ b\n@@ -0,0 +1 @@\n+a\n".repeat(40_000) },
    "comments and tokens": one(`coffer:allow x ${personalToken()} `.repeat(20_000)),
  };
  for (const [name, body] of Object.entries(hostile)) {
    const scanning = scan(machine, body);
    const state = { done: false, worst: 0, asked: 0 };
    void scanning.finally(() => (state.done = true));
    while (!state.done) {
      const began = performance.now();
      // No token: the answer needs the event loop alone.
      t.equal((await fetch(`${url}/api/scanner/rules`)).status, 401);
      state.worst = Math.max(state.worst, performance.now() - began);
      state.asked += 1;
      await pause(30);
    }
    const { status, body: answer } = await scanning;
    t.equal(status, 200, `${name}: ${state.asked} requests meanwhile, the slowest took ${state.worst.toFixed(0)} ms`);
    t.equal(typeof answer.summary.complete, "boolean");
  }
});

await t.test("of archives only so much comes out, and the answer says so", async (t) => {
  const { scan, authSm } = await startScanner(t);
  const machine = authSm.machine();
  const token = personalToken();
  const bomb = gzipSync(Buffer.concat([Buffer.from(token), Buffer.alloc(64 * mebibyte)]));
  t.match((await scan(machine, packed(bomb))).body.summary, {
    complete: false,
    problems: [{ path: "a", message: /unpacks to more/ }],
  });
  const after = { documents: [...packed(bomb).documents, { path: "b", content: token }] };
  t.match((await scan(machine, after)).body, {
    findings: [{ locations: [{ path: "b" }] }],
    summary: { complete: false },
  });
  const honest = zip(
    Array.from({ length: 500 }, (_, index) => [`src/${index}.ts`, Buffer.from("x = 1;\n".repeat(50))] as const),
  );
  t.match((await scan(machine, packed(honest))).body.summary, { complete: true });
});

await t.test("an answer holds so many places, and says that there were more", async (t) => {
  const { scan, authSm, connect } = await startScanner(t);
  const machine = authSm.machine();
  const content = Array.from({ length: 12_000 }, () => personalToken()).join("\n");
  const { body } = await scan(machine, one(content));
  t.equal(body.findings.length, 10_000);
  t.match(body.summary, { complete: false, findings: 10_000, problems: [{ path: "a", message: /more than 10000/ }] });
  const named = await scan(machine, one(content, "p".repeat(1024)));
  t.ok(named.body.findings.length < 4_000 && named.body.findings.length > 1_000, String(named.body.findings.length));
  t.match(named.body.summary, { complete: false });
  const bus = await connect("vaults");
  const asked = { documents: [{ path: "p".repeat(1024), content: content.slice(0, 380 * 1024) }] };
  const answer = await bus.request(scanDocuments, asked, { timeoutMilliseconds: 20_000 });
  t.ok(answer.findings.length > 100 && answer.findings.length < 1_000, String(answer.findings.length));
  t.equal(answer.summary.complete, false);
});

await t.test(
  "a scan that takes too long is cut off, what it had not done is named, and the next one is scanned",
  async (t) => {
    const { scan, authSm } = await startScanner(t, { seams: { pool: { threads: 1, mostMilliseconds: 150 } } });
    const machine = authSm.machine();
    const token = personalToken();
    const documents = [
      { path: "first", content: token },
      { path: "slow", content: nested.slice(0, 4 * mebibyte) },
      { path: "last", content: "a" },
    ];
    // A machine under load may not even get to the first within the time.
    const attempt = await until("the first is scanned in time", async () => {
      const answer = await scan(machine, { documents });
      t.equal(answer.status, 200);
      t.match(answer.body.summary, { complete: false, problems: [{ path: /first|slow/ }] });
      return answer.body.summary.problems.length === 2 ? answer : undefined;
    });
    t.same(
      attempt.body.summary.problems.map(({ path }) => path),
      ["slow", "last"],
    );
    t.match(attempt.body.findings, [{ locations: [{ path: "first" }] }]);
    await until("a thread scans again", async () => (await scan(machine, one(token))).body.findings.length === 1);
  },
);
