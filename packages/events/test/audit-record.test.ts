import { auditActions } from "@coffer/contract";
import t from "tap";
import { auditDraft, auditRecord, receivedAuditDraft } from "../src/index.ts";
import { draft } from "./drafts.ts";

void t.test("a complete draft is accepted as it is", (t) => {
  const complete = draft({
    reason: "expired",
    changes: { name: "prod", count: 3, ratio: 0.5, enabled: true, removed: null, roles: ["owner"] },
    count: 0,
  });
  t.same(auditDraft.parse(complete), complete);
  t.same(receivedAuditDraft.parse(complete), complete);
  t.end();
});

void t.test("an unknown field is refused at every level", (t) => {
  const base = draft();
  const smuggled = [
    { ...base, authorization: "Bearer x" },
    { ...base, actor: { ...base.actor, email: "a@b.c" } },
    { ...base, target: { ...base.target, title: "prod db" } },
    { ...base, source: { ...base.source, headers: "cookie" } },
    { ...base, request: { ...base.request, url: "/?token=x" } },
    { ...base, changes: { nested: { wrapped_dek: "x" } } },
  ];
  for (const [index, record] of smuggled.entries()) t.notOk(auditDraft.safeParse(record).success, `smuggled ${index}`);
  t.end();
});

void t.test("a draft of a newer version loses its unknown fields, not its unknown action", (t) => {
  const base = draft();
  const newer = {
    ...base,
    action: "secret.key.exported",
    region: "eu",
    actor: { ...base.actor, device_id: "d" },
    request: { ...base.request, duration: 3 },
  };
  t.same(receivedAuditDraft.parse(newer), { ...base, action: "secret.key.exported" });
  t.end();
});

void t.test("a malformed action is refused from newer versions too", (t) => {
  for (const action of ["", "secret", "Secret.read", "secret read", "secret..read", `a.${"b".repeat(63)}`, 7, null])
    t.notOk(receivedAuditDraft.safeParse({ ...draft(), action }).success, String(action));
  t.ok(receivedAuditDraft.safeParse({ ...draft(), action: `a.${"b".repeat(62)}` }).success, "64 characters");
  t.end();
});

void t.test("the actions are distinct and shaped alike", (t) => {
  t.equal(new Set(auditActions).size, auditActions.length);
  for (const action of auditActions) t.match(action, /^[a-z_]+(\.[a-z_]+){1,3}$/);
  t.end();
});

void t.test(
  "an odd user agent does not cost the record: it is cut, and repaired where it has no canonical form",
  (t) => {
    const agentOf = (user_agent: string) =>
      auditDraft.parse(draft({ source: { ip: null, user_agent } })).source.user_agent;
    t.equal(agentOf("a".repeat(256)), "a".repeat(256));
    t.equal(agentOf("a".repeat(257)), "a".repeat(256));
    t.equal(agentOf(`${"a".repeat(255)}\u{1f511}`), `${"a".repeat(255)}\ufffd`, "a pair that the cut separates");
    t.equal(agentOf("x\ud800y"), "x\ufffdy", "an unpaired surrogate");
    t.equal(agentOf("x\0y"), "x\ufffdy", "NUL, which Postgres cannot store");
    t.equal(agentOf("schlüssel 🔑"), "schlüssel 🔑");
    t.same(auditDraft.parse(draft({ changes: { name: "\udc00" } })).changes, { name: "\ufffd" });
    t.end();
  },
);

void t.test("times are ISO 8601 in UTC, ids are never empty", (t) => {
  const times = { "2026-11-20T10:00:00Z": true, "2026-11-20T10:00:00.123Z": true, "2026-11-20T11:00:00+01:00": false };
  for (const [time, accepted] of Object.entries(times))
    t.equal(auditDraft.safeParse(draft({ time })).success, accepted, time);
  t.notOk(auditDraft.safeParse(draft({ org_id: "" })).success);
  t.ok(auditDraft.safeParse(draft({ org_id: null })).success);
  t.notOk(auditDraft.safeParse(draft({ actor: { type: "user", id: "" } })).success);
  t.ok(auditDraft.safeParse(draft({ actor: { type: "user", id: "i".repeat(128) } })).success);
  t.notOk(auditDraft.safeParse(draft({ actor: { type: "user", id: "i".repeat(129) } })).success);
  t.end();
});

void t.test("a record has a place from 1 on and hashes in lower-case hexadecimal", (t) => {
  const place = { seq: 1, prev_hash: "0".repeat(64), hash: "a".repeat(64) };
  t.ok(auditRecord.safeParse({ ...draft(), ...place }).success);
  t.notOk(auditRecord.safeParse({ ...draft(), ...place, seq: 0 }).success);
  t.notOk(auditRecord.safeParse({ ...draft(), ...place, hash: "A".repeat(64) }).success);
  t.notOk(auditRecord.safeParse({ ...draft(), ...place, hash: "a".repeat(63) }).success);
  t.end();
});
