import t from "tap";
import {
  allEvents,
  allRpcs,
  auditAppend,
  lostMemberships,
  mostLost,
  serviceNames,
  sessionRevoked,
} from "../src/index.ts";
import { draft } from "./drafts.ts";

void t.test("every subject has a name of its own, and a question that of its responder", (t) => {
  const names = [...allRpcs, ...allEvents].map(({ subject }) => subject);
  t.equal(new Set(names).size, names.length);
  for (const { subject, responder } of allRpcs) {
    t.match(subject, /^coffer\.rpc\.[a-z-]+\.[a-z-]+$/);
    t.equal(subject.split(".")[2], responder);
  }
  for (const { subject } of allEvents) t.match(subject, /^coffer\.evt\.[a-z-]+\.[a-z-]+$/);
  t.end();
});

void t.test("callers and consumers are distinct services other than the owner", (t) => {
  const services = new Set<string>(serviceNames);
  const check = (subject: string, others: readonly string[], owner: string): void => {
    t.ok(services.has(owner), subject);
    t.equal(new Set(others).size, others.length, subject);
    t.ok(others.length > 0 && others.every((name) => services.has(name) && name !== owner), subject);
  };
  for (const { subject, callers, responder } of allRpcs) check(subject, callers, responder);
  for (const { subject, consumers, publisher } of allEvents) check(subject, consumers, publisher);
  t.end();
});

void t.test("an append carries at least one record, as it is received", (t) => {
  t.notOk(auditAppend.input.safeParse({ records: [] }).success);
  t.same(auditAppend.input.parse({ records: [{ ...draft(), region: "eu" }] }), { records: [draft()] });
  t.end();
});

void t.test("a revocation is read with any reason, and sent with known reasons only", (t) => {
  const event = { session_id: "s", user_id: "u", at: "2026-11-20T10:00:00.000001Z" };
  for (const schema of [sessionRevoked.payload, sessionRevoked.received])
    t.same(schema.parse({ ...event, reason: "token_reused" }), { ...event, reason: "token_reused" });
  t.same(sessionRevoked.received.parse({ ...event, reason: "of_the_future" }), { ...event, reason: "user_revoked" });
  t.notOk(sessionRevoked.received.safeParse({ reason: "user_revoked" }).success);
  t.notOk(sessionRevoked.payload.safeParse({ ...event, reason: "of_the_future" }).success);
  t.end();
});

void t.test("at most as many lost memberships are read as are written", (t) => {
  const org_id = "00000000-0000-4000-8000-000000000000";
  const entries = Array.from({ length: mostLost + 1 }, (_, n) => ({ org_id, user_id: org_id, version: n + 1 }));
  t.same(lostMemberships.parse(entries), entries.slice(0, mostLost));
  t.end();
});
