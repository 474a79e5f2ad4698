import t from "tap";
import { startSync } from "./support/start.ts";
import { moment, nothing } from "./support/vaults.ts";

const { authSm, vaults, connect } = await startSync(t);

await t.test("a sync_request is answered with the changes", async (t) => {
  const person = authSm.person();
  const device = await connect(person);
  const changed = moment();
  const change = { id: "r1", vault_id: "v1", action: "updated", type: "login", encrypted_data: "AAAA" } as const;
  vaults.changes = () => ({
    ...nothing(),
    changes: [{ ...change, updated_at: changed, server_timestamp: changed }],
    deleted: [{ id: "r2", vault_id: "v1", deleted_at: changed }],
    server_time: "2026-11-20T10:00:00.000001Z",
  });
  const answer = await device.sync({ last_sync: "2026-11-20T09:00:00.123456Z" });
  t.strictSame(answer, {
    type: "sync_response",
    changes: [{ ...change, updated_at: changed, server_timestamp: changed }],
    deleted: [{ id: "r2", vault_id: "v1", deleted_at: changed }],
    server_time: "2026-11-20T10:00:00.000001Z",
    has_more: false,
    reset: false,
  });
  t.match(vaults.requests.at(-1), {
    user_id: person.userId,
    session_id: person.sessionId,
    last_sync: "2026-11-20T09:00:00.123456Z",
    limit: null,
    after: null,
  });
});
