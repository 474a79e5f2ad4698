import { box, contexts, decodeBase64, decodeText, encodeText, unboxBound } from "@coffer/crypto";
import type { Resource } from "@coffer/history";
import t from "tap";
import { CofferError, type PersonClient } from "../src/index.ts";
import { changedIn, memoryTrust, type TrustStorage } from "../src/trust/trust-storage.ts";
import { type Member, signPastClients, startCompany } from "./history-people.ts";
import type { HistoryServer } from "./history-server.ts";

// A manager leaves the organization, and the service keeps a folder and a vault out of the removal. The
// manager returns with the same key. A device has a pin of the folder or vault that it cannot compare
// meanwhile: another device made it, or travel mode hides the vault.

const idOf = ({ session }: Member): string => session.user.id;

const outcomeOf = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => "done",
    (error: unknown) => (error instanceof CofferError ? error.code : String(error)),
  );

/** A folder and a vault of Alice's, which Olga and Mallory manage too. */
async function withMallory(t: Parameters<typeof startCompany>[0]) {
  const company = await startCompany(t);
  const { alice, server, join } = company;
  const [olga, mallory] = [await join("olga@example.com", "admin"), await join("mallory@example.com", "admin")];
  const { id: folder } = await alice.client().folders.create("payroll");
  const { id: vault } = await alice.client().vaults.create("Team", { type: "shared" });
  const share = async (by: PersonClient, userId: string): Promise<void> => {
    await by.folders.share(folder, { userId, permission: "manage" });
    await by.vaults.share(vault, { userId, permission: "manage" });
  };
  for (const member of [olga, mallory]) {
    await share(alice.client(), idOf(member));
    await member.client().folders.accept(folder);
    await member.client().vaults.accept(vault);
  }
  await olga.client().folders.list();
  await olga.client().vaults.list();
  /** Olga removes Mallory, and the service shows her no heads and no lists. */
  const remove = async (): Promise<void> => {
    server.lie = ({ path }, { body }) => {
      if (path.endsWith("/heads")) return { data: {} };
      return path === "/api/org/folders" || path.startsWith("/api/vaults?") ? { data: [] } : body;
    };
    await olga.client({ trust: memoryTrust() }).members.remove(idOf(mallory));
    server.lie = (_, { body }) => body;
  };
  const comeBack = async (): Promise<void> => {
    const { token } = await olga.client().invites.create("mallory@example.com", "member");
    await mallory.client().invites.accept(token);
  };
  const res: Record<"folder" | "vault", Resource> = { folder: `folder:${folder}`, vault: `vault:${vault}` };
  /** Mallory signs another name. */
  const goOn = (kind: "folder" | "vault", name: string) => signPastClients(server, mallory, res[kind], { name });
  const addAgain = (): Promise<void> => share(olga.client(), idOf(mallory));
  const use = (kind: "folder" | "vault", trust: TrustStorage = alice.trust): Promise<string> =>
    outcomeOf(
      kind === "folder"
        ? alice.client({ trust }).secrets.set(`coffer://${folder}/database/field/password`, "x")
        : alice.client({ trust }).records.create(vault, { type: "login", fields: { password: "x" } }),
    );
  return { ...company, olga, mallory, folder, vault, res, remove, comeBack, goOn, addAgain, use };
}

/** Hides all folders and vaults while something happens. */
async function hiding(server: HistoryServer, work: () => Promise<unknown>): Promise<void> {
  server.lie = ({ method, path }, { body }) =>
    method === "GET" && (path === "/api/org/folders" || path.startsWith("/api/vaults?")) ? { data: [] } : body;
  await work();
  server.lie = (_, { body }) => body;
}

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

for (const kind of ["folder", "vault"] as const)
  for (const how of ["the keyring", "the keyring after the invitation", "`org trust`"] as const)
    await t.test(`a person who returns on a new device, with ${how}, knows who left: ${kind}`, async (t) => {
      const { alice, olga, server, organizationId, folder, vault, remove, comeBack, goOn, use } = await withMallory(t);
      await alice.client().folders.list();
      await alice.client().vaults.list();
      const [grants, members] = [server.folders.get(folder)?.grants ?? [], server.vaults.get(vault)?.members ?? []];
      const grant = grants.find(({ id }) => id === idOf(alice));
      const member = members.find(({ user_id }) => user_id === idOf(alice));
      if (grant === undefined || member === undefined) throw new Error("Alice has both");
      await olga.client().members.remove(idOf(alice), { force: true });
      await remove();
      await comeBack();
      const { token } = await olga.client().invites.create("alice@example.com", "member");
      const trust = memoryTrust();
      const keyring = server.keyrings.get(idOf(alice));
      if (keyring === undefined) throw new Error("the first device has written one");
      if (how === "the keyring after the invitation") server.keyrings.delete(idOf(alice));
      await alice.client({ trust }).invites.accept(token);
      server.keyrings.set(idOf(alice), keyring);
      if (how === "`org trust`") {
        // An earlier version stored nothing about who had left.
        await trust.change((before) => changedIn(before, `org:${organizationId}`, (org) => ({ ...org, missed: [] })));
        await alice.client({ trust }).organizations.trust(organizationId, () => Promise.resolve(true));
      }
      // The service lists Alice for both again.
      server.folders.get(folder)?.grants.push(grant);
      server.vaults.get(vault)?.members.push(member);
      t.equal(await use(kind, trust), "done");
      await goOn(kind, "Mallory's");
      t.equal(await use(kind, trust), "signer_removed");
    });

/** The plaintext of a keyring or of a vault's pin. */
interface Content {
  pins?: Record<string, [number, string, number?]>;
  pin?: [number?, string?, number?];
}
