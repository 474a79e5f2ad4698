import { randomUUID } from "node:crypto";
import { type AnswerBody, call } from "../support/call.ts";
import type { Person, Role } from "../support/people.ts";
import type { TestVaults } from "../support/service.ts";
import { newRecord, newVault, share, travel } from "../support/vaults.ts";

/** The expected access of a caller to the vault of the cast. */
export type Standing = "read" | "write" | "manage" | "insider" | "outsider" | "unknown";

export interface Caller {
  name: string;
  person: (Pick<Person, "token"> & Partial<Pick<Person, "userId">>) | undefined;
  standing: Standing;
}

/** A vault of an organization with a record, and callers of every kind. */
export interface Cast {
  orgId: string;
  vault: AnswerBody;
  record: AnswerBody;
  /** A member of the organization without the vault: it is shared with them. */
  newcomer: Person;
  /** Has `read` permission on the vault. */
  reader: Person;
  stranger: Person;
  /** A vault of another organization with a record. */
  foreign: { vault: AnswerBody; record: AnswerBody; orgId: string };
  callers: Caller[];
}

const permissions = ["read", "write", "manage"] as const;
const roles: readonly Role[] = ["owner", "admin", "member"];

/** Makes the cast around a fresh vault. */
export async function assemble(service: TestVaults): Promise<Cast> {
  const { people } = service;
  const orgId = randomUUID();
  const founder = await people.add({ orgId, role: "member" });
  const vault = await newVault(service, founder);
  const record = await newRecord(service, founder, vault.id);
  const callers: Caller[] = [{ name: "its creator", person: founder, standing: "manage" }];
  const add = (name: string, person: Person, standing: Standing): Person => {
    callers.push({ name, person, standing });
    return person;
  };
  const with_ = async (permission: (typeof permissions)[number], role: Role): Promise<Person> => {
    const person = await people.add({ orgId, role });
    await share(service, founder, vault.id, person, permission);
    return person;
  };

  for (const role of roles) {
    for (const permission of permissions) add(`${role}, ${permission}`, await with_(permission, role), permission);
    add(`${role} without the vault`, await people.add({ orgId, role }), "insider");
  }
  const reader = await with_("read", "member");
  add("an auditor without the vault", await people.add({ orgId, role: "auditor" }), "insider");
  const auditor = add("an auditor who managed it", await with_("manage", "member"), "insider");
  await people.place(auditor, { orgId, role: "auditor" });
  const suspended = add("a suspended manager", await with_("manage", "owner"), "insider");
  await people.place(suspended, { orgId, role: "owner", status: "suspended" });
  add("suspended, without the vault", await people.add({ orgId, role: "admin", status: "suspended" }), "insider");
  const removed = add("a removed manager", await with_("manage", "owner"), "outsider");
  await people.remove(removed, orgId);
  const traveller = add("a manager who travels", await with_("manage", "owner"), "outsider");
  await travel(service, traveller, true);
  const unshared = add("a removed member of the vault", await with_("manage", "member"), "insider");
  await call(service, founder, "DELETE", `/api/vaults/${vault.id}/members/${unshared.userId}`);

  const foreignOrg = randomUUID();
  const stranger = add(
    "an owner of another organization",
    await people.add({ orgId: foreignOrg, role: "owner" }),
    "outsider",
  );
  const foreignVault = await newVault(service, stranger);
  const foreign = {
    vault: foreignVault,
    record: await newRecord(service, stranger, foreignVault.id),
    orgId: foreignOrg,
  };
  add("a person without an organization", await people.add(), "outsider");

  const ended = await people.add({ orgId, role: "owner" });
  callers.push({ name: "no caller", person: undefined, standing: "unknown" });
  callers.push({ name: "no token", person: { token: "x" }, standing: "unknown" });
  callers.push({ name: "an expired token", person: { token: await people.sign(ended, -1) }, standing: "unknown" });
  const newcomer = await people.add({ orgId, role: "member" });
  return { orgId, vault, record, newcomer, reader, stranger, foreign, callers };
}
