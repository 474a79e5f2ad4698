import { newId, newKey } from "@coffer/crypto";
import t from "tap";
import { hiddenPin, withHiddenPins } from "../../src/trust/hidden-pins.ts";
import { memoryTrust } from "../../src/trust/trust-storage.ts";
import { hiding, idOf, withMallory } from "../server/departed-manager.ts";

// The pin that a device keeps of a forgotten vault has a fixed length.

await t.test("a forgotten vault keeps who left, of more people than its pin has room for", async (t) => {
  const { alice, olga, server, join, res, vault, remove, comeBack, goOn, use } = await withMallory(t);
  const others = [];
  for (let number = 0; number < 14; number += 1) {
    const other = await join(`m${number}@example.com`, "admin");
    await alice.client().vaults.share(vault, { userId: idOf(other), permission: "read" });
    others.push(other);
  }
  await alice.client().vaults.list();
  await remove();
  server.lie = ({ path }, { body }) => {
    if (path.endsWith("/heads")) return { data: {} };
    return path === "/api/org/folders" || path.startsWith("/api/vaults?") ? { data: [] } : body;
  };
  for (const other of others) await olga.client({ trust: memoryTrust() }).members.remove(idOf(other));
  server.lie = (_, { body }) => body;
  server.loses = ({ method, path }) => method === "PUT" && path.endsWith("/pin");
  await alice.client().members.confirmed();
  await alice.client().vaults.list();
  t.equal((await alice.trust.load()).resources[res.vault]?.left?.length, 15);
  await hiding(server, () => alice.client().travel.forgetHidden());
  await comeBack();
  await alice.client().members.confirmed();
  await goOn("vault", "Mallory's");
  t.equal(await use("vault"), "signer_removed");
  t.equal((await alice.trust.load()).resources[res.vault]?.left?.length, 15, "those without room are found again");
});

await t.test("a forgotten vault's pin has room for the newest of many later entries", async (t) => {
  const [userKey, id, hash] = [newKey(), newId(), "a".repeat(64)];
  const expect = Array.from({ length: 45 }, (_, index) => ({ seq: index + 10, hash, at: 5 }));
  const pin = { pin: { seq: 1, hash }, expect, accepted: true, version: 3 };
  const kept = await hiddenPin(userKey, await withHiddenPins(userKey, [], new Map([[id, pin]])), id);
  t.match(kept?.expect?.at(-1), { seq: 54 });
});
