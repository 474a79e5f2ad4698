import { randomUUID } from "node:crypto";
import { scanDocuments } from "@coffer/events";
import t from "tap";
import { startScanner } from "./scanner.ts";
import { personalToken } from "./secrets.ts";

const service = await startScanner(t, { seams: { pool: { mostMilliseconds: 2_000 } } });
const { authSm, audit, scan, registry, lines } = service;
const machine = authSm.machine();
const person = await authSm.person({ orgId: randomUUID() });

await t.test("nothing of what is sent is in a log, a metric, an audit record or another message", async (t) => {
  const siem = await service.connect("siem-forwarder");
  const canary = `canary${randomUUID().replaceAll("-", "")}`;
  const token = personalToken();
  const path = `${canary}/a.env`;
  const content = `${canary} TOKEN=${token}`;
  const diff = `--- a/${path}\n+++ b/${path}\n@@ -0,0 +1 @@\n+${content}\n`;
  const broken = Buffer.concat([Buffer.from("PK\x03\x04"), Buffer.from(content)]).toString("base64");
  const bodies = [
    { documents: [{ path, content }] },
    { diff },
    { documents: [{ path: `${path}.zip`, content: broken, encoding: "base64" }] },
    { documents: [{ path, content: `${content} not base64`, encoding: "base64" }] },
    { documents: [{ path, content, encoding: canary }] },
    { diff: content },
    { documents: Array.from({ length: 101 }, () => ({ path, content })) },
    JSON.stringify({ documents: [{ path, content }] }).slice(0, -2),
  ];
  for (const caller of [machine, person])
    for (const body of bodies) {
      const { status } = await scan(caller, body, { ask: fetch });
      t.ok([200, 400, 413].includes(status), String(status));
    }
  await siem.request(scanDocuments, { documents: [{ path, content }] }, { timeoutMilliseconds: 20_000 });
  const kept = { log: lines.join(""), metrics: await registry.metrics(), audit: JSON.stringify(audit.records) };
  t.ok(lines.length > 0 && audit.records.length > 0, "there is something to look at");
  for (const [name, text] of Object.entries(kept)) {
    t.notMatch(text, canary, name);
    t.notMatch(text, token, name);
    t.notMatch(text, token.slice(4, 24), name);
  }
});

await t.test("of a scan that is cut off nothing is kept either", async (t) => {
  const canary = `canary${randomUUID().replaceAll("-", "")}`;
  const slow = "VFZaWVZtRldSbFpXUmxwV1VteGFWbEpzV2xaU2JGcFdVbXhhVmxKcw".repeat(90_000);
  const cut = await startScanner(t, { seams: { pool: { mostMilliseconds: 50 } } });
  const caller = cut.authSm.machine();
  const { status, body } = await cut.scan(caller, { documents: [{ path: canary, content: slow }] });
  t.equal(status, 200);
  t.match(body.summary, { complete: false, problems: [{ path: canary }] });
  t.notMatch(cut.lines.join(""), canary);
  t.match(cut.audit.records, [{ action: "scanner.scanned", count: 0 }]);
});
