import t from "tap";
import { loadMessages, messageProblems } from "../src/index.ts";

await t.test("the examples of the messages are valid", (t) => {
  const messages = loadMessages();
  t.equal(messages.length, 7);
  for (const { id, speaker, examples } of messages) {
    t.ok(examples.length > 0, id);
    for (const example of examples) t.same(messageProblems(speaker, example), [], id);
  }
  t.end();
});

await t.test("missing, additional and malformed fields of a message are reported", (t) => {
  const push = { type: "push", action: "record_updated", record_id: "r", vault_id: "v" };
  const time = "2026-11-20T10:00:00.000001Z";
  t.same(messageProblems("server", { ...push, updated_at: time }), []);
  t.match(messageProblems("server", push).join("\n"), /as recordPush: .*updated_at/);
  t.match(messageProblems("server", { ...push, updated_at: "2026-11-20T10:00:00Z" }).join("\n"), /updated_at/);
  t.match(messageProblems("server", { ...push, updated_at: time, encrypted_data: "x" }).join("\n"), /encrypted_data/);
  t.not(messageProblems("server", { ...push, updated_at: time, action: "vault_updated" }).length, 0);
  t.not(messageProblems("server", { type: "sync_request" }).length, 0, "which a client says");
  t.same(messageProblems("client", { type: "sync_request", later: true }), []);
  t.not(messageProblems("client", { type: "sync_request", limit: 1001 }).length, 0);
  t.end();
});
