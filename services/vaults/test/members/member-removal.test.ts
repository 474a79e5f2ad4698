import { randomUUID } from "node:crypto";
import type { AuditDraft } from "@coffer/events";
import t from "tap";
import { startVaults } from "../support/service.ts";
import { newRecord, newVault, share } from "../support/vaults.ts";

const service = await startVaults(t);
const { people, listeners } = service;

await t.test("a removal is audited once for each vault", async (t) => {
  const orgId = randomUUID();
  const [owner, member] = [await people.add({ orgId, role: "owner" }), await people.add({ orgId, role: "member" })];
  const [vault, second] = [await newVault(service, owner), await newVault(service, owner)];
  await share(service, owner, vault.id, member, "write");
  await share(service, owner, second.id, member, "read");
  const earlier = new Set(listeners.vaults);
  const removed = await people.remove(member, orgId);
  await people.publish(removed);
  for (const { id } of [vault, second])
    await listeners.vaultEvent(
      "the remaining members receive vault_updated",
      (event) =>
        !earlier.has(event) && event.action === "vault_updated" && event.vault_id === id && event.user_ids === null,
    );
  for (const [vaultId, permission] of [
    [vault.id, "write"],
    [second.id, "read"],
  ]) {
    const matches = (record: AuditDraft): boolean =>
      record.action === "vault.member.removed" && record.target.parent_id === vaultId;
    t.match(await listeners.record("the removal", matches), {
      org_id: orgId,
      time: /\.\d{6}Z$/,
      outcome: "success",
      reason: "member_removed",
      actor: { type: "system", id: "vaults" },
      target: { type: "user", id: member.userId, parent_id: vaultId },
      changes: { permission },
    });
    t.equal(listeners.audit.filter(matches).length, 1);
  }
  await people.place(owner, { orgId, role: "owner", status: "suspended" });
  await people.place(owner, { orgId, role: "owner" });
  await newRecord(service, owner, vault.id);
  await listeners.record("a later record", ({ action, target }) => {
    return action === "record.created" && target.parent_id === vault.id;
  });
  t.notOk(
    listeners.audit.some(({ action, target }) => action === "vault.member.removed" && target.id === owner.userId),
    "a suspension removes no vault members",
  );
});
