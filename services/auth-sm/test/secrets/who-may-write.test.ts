import { randomUUID } from "node:crypto";
import { permissions, roles } from "@coffer/contract";
import { ServiceError } from "@coffer/errors";
import { type AuditDraft, auditSchemaName } from "@coffer/events";
import type { Actor } from "@coffer/http";
import { createDatabase } from "@coffer/postgres";
import { createTelemetry } from "@coffer/telemetry";
import t from "tap";
import { requireFolder } from "../../src/access/folder.ts";
import type { Machine } from "../../src/callers/machine.ts";
import type { User } from "../../src/callers/user.ts";
import type { Deps } from "../../src/deps.ts";
import { schema } from "../../src/migrate.ts";
import { createSecretReads } from "../../src/store/secrets/secret-reads.ts";
import { createSecretWrites } from "../../src/store/secrets/secret-writes.ts";
import { createFolder, createMachine } from "../support/machines.ts";
import { execute, share, startCompany } from "../support/members.ts";
import { sealed } from "../support/people.ts";
import { startAuthSm } from "../support/service.ts";

// The right to write a secret is stated twice: in access/, and in the condition of the statement that
// writes. Both must agree in every state.

const service = await startAuthSm(t);
const { orgId, owner, member } = await startCompany(service);
const folderId = await createFolder(service, owner);
await share(service, folderId, member, "manage");
const machine = await createMachine(service, owner, [{ folder_id: folderId, permission: "write" }]);
const database = createDatabase({
  url: service.postgres.url,
  schema,
  telemetry: createTelemetry({ service: "auth-sm", level: "silent" }),
});
t.teardown(() => database.close());
const writes = createSecretWrites(database);
const reads = createSecretReads(database);
const deps = { database, reads, now: () => new Date() } as unknown as Deps; // all that `requireFolder` uses

/** Whether access/ lets the caller write to the folder. */
async function isAllowed(caller: Machine | User): Promise<boolean> {
  try {
    await requireFolder(deps, caller, folderId, "write");
    return true;
  } catch (error) {
    if (error instanceof ServiceError && error.status < 500) return false;
    throw error;
  }
}

/** Whether the statement writes a secret for the actor, who was authorized before. */
async function isWritten(actor: Actor): Promise<boolean> {
  const audit: AuditDraft = {
    schema: auditSchemaName,
    id: randomUUID(),
    time: new Date().toISOString(),
    org_id: orgId,
    action: "secret.created",
    outcome: "success",
    actor,
    target: { type: "secret", id: null },
    source: { ip: "192.0.2.1", user_agent: null },
    request: { id: "table", method: "POST", route: "/", status: 201 },
  };
  const written = await writes.insert({
    uid: `s${randomUUID().slice(1, 22)}`,
    recordType: "login",
    content: { encrypted_payload: sealed(), wrapped_dek: sealed() },
    folder: { actor, orgId, folderId, keyVersion: 1 },
    now: new Date(),
    audit,
  });
  return written !== null;
}

await t.test("people: role, state of the membership, permission, session", async (t) => {
  const { userId, sessionId } = member;
  const caller: User = { kind: "user", userId, sessionId, orgId };
  let allowed = 0;
  for (const role of roles)
    for (const status of ["active", "suspended"])
      for (const permission of [null, ...permissions])
        for (const lasts of [true, false]) {
          const inOrg = [orgId, userId];
          await execute(
            service,
            "UPDATE auth_sm.memberships SET role = $3, status = $4 WHERE org_id = $1 AND user_id = $2",
            [...inOrg, role, status],
          );
          await execute(service, "DELETE FROM auth_sm.folder_members WHERE folder_id = $1 AND user_id = $2", [
            folderId,
            userId,
          ]);
          if (permission !== null) await share(service, folderId, member, permission);
          await execute(service, `UPDATE auth_sm.sessions SET revoked_at = ${lasts ? "NULL" : "now()"} WHERE id = $1`, [
            sessionId,
          ]);
          const expected = await isAllowed(caller);
          const actor = { type: "user", id: userId, session_id: sessionId } as const;
          t.equal(await isWritten(actor), expected, [role, status, permission, lasts ? "lasts" : "ended"].join(" "));
          if (expected) allowed += 1;
        }
  t.equal(allowed, 3 * 2, "write and manage, of three roles, active and in a session");
});

await t.test("machines: permission, revocation", async (t) => {
  const { clientId } = machine;
  const caller: Machine = { kind: "machine", clientId, ip: "192.0.2.1", noteUse: () => undefined };
  let allowed = 0;
  for (const permission of [null, "read", "write"])
    for (const revoked of [false, true]) {
      await execute(service, "DELETE FROM auth_sm.client_folders WHERE client_id = $1", [clientId]);
      if (permission !== null)
        await execute(
          service,
          `INSERT INTO auth_sm.client_folders (client_id, folder_id, permission, added_at) VALUES ($1, $2, $3, now())`,
          [clientId, folderId, permission],
        );
      await execute(service, `UPDATE auth_sm.clients SET revoked_at = ${revoked ? "now()" : "NULL"} WHERE id = $1`, [
        clientId,
      ]);
      const expected = await isAllowed(caller);
      t.equal(await isWritten({ type: "client", id: clientId }), expected, `${permission} ${revoked}`);
      if (expected) allowed += 1;
    }
  t.equal(allowed, 1);
});
