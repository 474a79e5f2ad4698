import { CofferError, type ConfirmKey } from "@coffer/sdk";
import t from "tap";
import { shownHistories, trustShown, trustView } from "../src/worker/trust.ts";
import type { Workspace } from "../src/worker/workspace.ts";

// A service that shows another signer after the comparison. The client is a fake: what it refuses is tested in the SDK.

const folder = { kind: "folder", id: "f", name: "production" } as const;

/** A workspace whose folder and keyring are signed by `signer`, with what was trusted. */
function workspaceOf(signer: { name: string; words: string }) {
  const trusted: string[] = [];
  const fingerprint = () => ({ hex: "", words: signer.words });
  const confirmed = async (res: string, isYes: Promise<boolean>): Promise<void> => {
    if (!(await isYes)) throw new CofferError("access_denied", "denied");
    trusted.push(res);
  };
  const client = {
    account: () => Promise.resolve({ organizations: [{ id: "o", name: "Example" }] }),
    folders: {
      list: () => Promise.resolve([{ id: "f", name: "as the service says", problem: "history_rolled_back" }]),
      trust: (id: string, confirm: ConfirmKey) =>
        confirmed(
          `folder:${id}`,
          confirm({ kind: "user", id: "u", name: signer.name, public_key: "", fingerprint: fingerprint() }),
        ),
    },
    vaults: {
      list: () =>
        Promise.resolve([
          { id: "p", name: "Private", type: "personal", problem: null },
          { id: "v", name: "Team", type: "shared", problem: null },
        ]),
    },
    keyring: {
      trust: (ask: (shown: object[]) => Promise<boolean>) =>
        confirmed("all", ask([{ res: "org:o", name: "Example", signer: signer.name, fingerprint: fingerprint() }])),
    },
    secrets: { expire: () => undefined },
  };
  const refused = () => Promise.reject(new CofferError("keyring_rolled_back", "older"));
  const workspace = {
    client,
    pins: () =>
      Promise.resolve({ resources: { "folder:f": { pin: { seq: 3, hash: "" }, state: { name: "production" } } } }),
    inOrganization: () => ({ members: { confirmed: refused } }),
    showVaults: () => undefined,
  };
  return { trusted, workspace: workspace as unknown as Workspace };
}

const bob = { name: "bob@example.com", words: "one two three four five six" };

await t.test("names come from what was verified, and what is refused says why", async (t) => {
  const { workspace } = workspaceOf(bob);
  t.same(await trustView(workspace), {
    histories: [
      { kind: "org", id: "o", name: "Example", entries: 0, problem: "keyring_rolled_back" },
      { kind: "folder", id: "f", name: "production", entries: 4, problem: "history_rolled_back" },
      { kind: "vault", id: "v", name: "Team", entries: 0, problem: null },
    ],
    keyring: "keyring_rolled_back",
  });
});

await t.test("looking trusts nothing, and an equal comparison trusts", async (t) => {
  const { trusted, workspace } = workspaceOf(bob);
  for (const one of [folder, null]) {
    const compared = await shownHistories(workspace, one);
    t.match(compared, [{ signer: bob.name, words: bob.words }]);
    t.same(trusted, []);
    await trustShown(workspace, { one, compared });
    t.same(trusted.splice(0), [one === null ? "all" : "folder:f"]);
  }
});

await t.test("another signer or key than was compared is not trusted", async (t) => {
  const { workspace: before } = workspaceOf(bob);
  for (const other of [
    { ...bob, name: "mallory@example.com" },
    { ...bob, words: "six five four three two one" },
  ])
    for (const one of [folder, null]) {
      const { trusted, workspace } = workspaceOf(other);
      const compared = await shownHistories(before, one);
      await t.rejects(trustShown(workspace, { one, compared }), { code: "access_denied" });
      t.same(trusted, []);
    }
});

await t.test("an error that is about no history is one of the screen", async (t) => {
  const { workspace } = workspaceOf(bob);
  workspace.client.folders.list = () => Promise.reject(new CofferError("network", "away"));
  await t.rejects(trustView(workspace), { code: "network" });
});
