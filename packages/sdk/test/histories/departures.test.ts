import { box, contexts, decodeBase64, decodeText, encodeText, unboxBound } from "@coffer/crypto";
import t from "tap";
import { memoryTrust } from "../../src/trust/trust-storage.ts";
import { hiding, idOf, withMallory } from "../server/departed-manager.ts";

// A manager leaves the organization, and the service keeps a folder and a vault out of the removal. The
// manager returns with the same key. A device has a pin of the folder or vault that it cannot compare
// meanwhile: another device made it, or travel mode hides the vault.

for (const isSeen of [true, false])
  await t.test(
    `a manager who left while a vault was forgotten, the return ${isSeen ? "later" : "at once"}`,
    async (t) => {
      const { alice, server, remove, comeBack, goOn, use } = await withMallory(t);
      await alice.client().members.confirmed();
      await alice.client().vaults.list();
      await hiding(server, () => alice.client().travel.forgetHidden());
      await remove();
      if (isSeen) await alice.client().members.confirmed();
      await comeBack();
      await alice.client().members.confirmed();
      await goOn("vault", "Mallory's");
      t.equal(await use("vault"), "signer_removed");
      t.equal(await use("vault"), "signer_removed");
    },
  );

await t.test("a manager who left while only another device had verified the folder", async (t) => {
  const { alice, server, res, remove, comeBack, goOn, use } = await withMallory(t);
  await alice.client().folders.list();
  const trust = memoryTrust();
  await hiding(server, () => alice.client({ trust }).members.confirmed());
  t.match((await trust.load()).resources[res.folder], { state: null });
  await remove();
  await alice.client({ trust }).members.confirmed();
  await comeBack();
  // The keyring now has a later entry of the organization, and the folder as before.
  await hiding(server, () => alice.client({ trust }).members.confirmed());
  await hiding(server, () => alice.client({ trust }).folders.create("other"));
  await goOn("folder", "Mallory's");
  t.equal(await use("folder", trust), "signer_removed");
  t.equal(await use("folder", memoryTrust()), "signer_removed", "nor on a device that begins with that keyring");
});

await t.test("a member who left and was added again is followed, also by a pin from before", async (t) => {
  const { alice, server, remove, comeBack, addAgain, goOn, use } = await withMallory(t);
  await alice.client().folders.list();
  await alice.client().vaults.list();
  const trust = memoryTrust();
  await hiding(server, () => alice.client({ trust }).members.confirmed());
  await hiding(server, () => alice.client().travel.forgetHidden());
  await remove();
  await alice.client().members.confirmed();
  await alice.client({ trust }).members.confirmed();
  await comeBack();
  await addAgain();
  await goOn("folder", "Wages");
  await goOn("vault", "Crew");
  t.equal(await use("vault"), "done");
  t.equal(await use("folder"), "done");
  t.equal(await use("folder", trust), "done");
});

await t.test("a departure from before a pin ends nothing after it", async (t) => {
  const { alice, server, remove, comeBack, addAgain, goOn, use } = await withMallory(t);
  await remove();
  await alice.client().members.confirmed();
  await comeBack();
  await addAgain();
  await alice.client().folders.list();
  await alice.client().vaults.list();
  const trust = memoryTrust();
  await hiding(server, () => alice.client({ trust }).members.confirmed());
  await hiding(server, () => alice.client().travel.forgetHidden());
  await goOn("folder", "Wages");
  await goOn("vault", "Crew");
  t.equal(await use("vault"), "done");
  t.equal(await use("folder"), "done");
  t.equal(await use("folder", trust), "done");
});

await t.test("a keyring and a pin without the organization's entry count as before", async (t) => {
  const { alice, server, vault, remove, comeBack, addAgain, goOn, use } = await withMallory(t);
  await remove();
  await comeBack();
  await addAgain();
  await alice.client().folders.list();
  await alice.client().vaults.list();
  const [userId, userKey] = [idOf(alice), decodeBase64(alice.session.user_key)];
  const resealed = async (
    sealed: string,
    context: Parameters<typeof box>[2],
    change: (content: Content) => unknown,
  ): Promise<string> => {
    const content = JSON.parse(decodeText(await unboxBound(userKey, sealed, context))) as Content;
    return box(userKey, encodeText(JSON.stringify(change(content))), context);
  };
  const keyring = server.keyrings.get(userId);
  const pin = server.vaults.get(vault)?.pins.get(userId);
  if (keyring === undefined || pin === undefined) throw new Error("the device has published both");
  keyring.sealed = await resealed(
    keyring.sealed,
    contexts.keyring(userId, keyring.version),
    ({ pins = {}, ...rest }) => ({
      ...rest,
      pins: Object.fromEntries(Object.entries(pins).map(([res, [seq, hash]]) => [res, [seq, hash]])),
    }),
  );
  const vaultPin = contexts.vaultPin(vault, pin.version);
  pin.sealed = await resealed(pin.sealed, vaultPin, ({ pin: own = [], ...rest }) => ({
    ...rest,
    pin: own.slice(0, 2),
  }));
  await goOn("folder", "Wages");
  await goOn("vault", "Crew");
  const trust = memoryTrust();
  t.equal(await use("folder", trust), "done");
  t.equal(await use("vault", trust), "done");
});

/** The plaintext of a keyring or of a vault's pin. */
interface Content {
  pins?: Record<string, [number, string, number?]>;
  pin?: [number?, string?, number?];
}
