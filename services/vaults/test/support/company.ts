import { randomUUID } from "node:crypto";
import type { TestVaults } from "./service.ts";
import { newRecord, newVault, share } from "./vaults.ts";

export type Company = Awaited<ReturnType<typeof newCompany>>;

/** An organization with an owner, and a member with `write` on the owner's vault, which has a record. */
export async function newCompany(service: TestVaults) {
  const { people } = service;
  const orgId = randomUUID();
  const [owner, member] = [await people.add({ orgId, role: "owner" }), await people.add({ orgId, role: "member" })];
  const vault = await newVault(service, owner);
  await share(service, owner, vault.id, member, "write");
  const record = await newRecord(service, owner, vault.id);
  return { orgId, owner, member, vault, record, path: `/api/vaults/${vault.id}` };
}
