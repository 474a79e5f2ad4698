import t from "tap";
import { call } from "./support/call.ts";
import type { Machine } from "./support/machines.ts";
import { ask, createFolder, createMachine, createSecret } from "./support/machines.ts";
import { register } from "./support/people.ts";
import { startAuthSm } from "./support/service.ts";
import { whileWaitingFor } from "./support/waiting.ts";

// A request that has been let in waits for Postgres, as during a migration, and is answered by what is so afterwards.

const service = await startAuthSm(t);
const owner = await register(service, { orgName: "Example" });
const folder = await createFolder(service, owner);
const writer = await createMachine(service, owner, [{ folder_id: folder, permission: "write" }]);
const uid = await createSecret(service, writer, folder, { title: "database" });

const revoke = async ({ applicationId, clientId }: Machine) => {
  const path = `/api/org/applications/${applicationId}/clients/${clientId}`;
  const { status } = await call(service, "DELETE", path, { token: owner.token });
  if (status !== 204) throw new Error(`the revocation was answered ${status}`);
};
const newMachine = () => createMachine(service, owner, [{ folder_id: folder, permission: "read" }]);

await t.test("a machine that is revoked while its requests wait gets nothing more", async (t) => {
  for (const [table, paths] of [
    ["secrets", [`/secrets/${uid}`]],
    ["folders", ["/folders", "/client"]],
  ] as const) {
    // One machine for each: nothing of one request is shared with another.
    for (const path of paths) {
      const machine = await newMachine();
      const [answer] = await whileWaitingFor(service, table, [() => ask(service, machine, "GET", path)], () =>
        revoke(machine),
      );
      t.equal(answer?.status, 401, path);
      t.match(answer?.body, { error: "invalid_token" });
    }
  }
});
