import type { ConfirmKey, PersonClient } from "@coffer/sdk";
import type { Calls } from "../protocol/calls.ts";
import type { HistoryName, HistoryView, ShownHistory, TrustView } from "../protocol/trust.ts";
import { codeOf } from "@coffer/sdk/code-of";
import type { Workspace } from "./workspace.ts";

/** The histories of the person, how far this browser has verified each, and which of them it refuses. */
export async function trustView({ client, pins, inOrganization, showVaults }: Workspace): Promise<TrustView> {
  const { organizations } = await client.account();
  const folders = await refusable(client.folders.list());
  const vaults = await refusable(client.vaults.list());
  const refused = await Promise.all(
    organizations.map(async ({ id, name }) => {
      const { problem } = await refusable(inOrganization(id).members.confirmed());
      return { kind: "org" as const, id, name, problem };
    }),
  );
  showVaults();
  const { resources } = await pins();
  const listed: Omit<HistoryView, "entries">[] = [
    ...refused,
    ...(folders.value ?? []).map(({ id, name, problem }) => ({ kind: "folder" as const, id, name, problem })),
    ...(vaults.value ?? [])
      .filter(({ type }) => type === "shared")
      .map(({ id, name, problem }) => ({ kind: "vault" as const, id, name, problem })),
  ];
  const histories = listed.map((each): HistoryView => {
    const known = resources[`${each.kind}:${each.id}`];
    return { ...each, name: known?.state?.name ?? each.name, entries: known === undefined ? 0 : known.pin.seq + 1 };
  });
  const problems = [folders, vaults, ...refused, ...listed].map(({ problem }) => problem);
  return { histories, keyring: problems.find((problem) => problem?.startsWith("keyring_")) ?? null };
}

/** What a read gives, or the code with which this client refuses the service's response. */
async function refusable<T>(work: Promise<T>): Promise<{ value: T | null; problem: string | null }> {
  try {
    return { value: await work, problem: null };
  } catch (error) {
    const code = codeOf(error);
    if (code === undefined || !/^(history|keyring|no_history|not_)/.test(code)) throw error;
    return { value: null, problem: code };
  }
}

/**
 * What would be trusted: one history as the service shows it now, or with null all of them. Each has the words of its
 * newest signer. Trusts nothing.
 */
export async function shownHistories({ client }: Workspace, one: HistoryName | null): Promise<ShownHistory[]> {
  let shown: ShownHistory[] = [];
  try {
    await trusting(client, one, (seen) => {
      shown = seen;
      return false;
    });
  } catch (error) {
    if (codeOf(error) !== "access_denied" || shown.length === 0) throw error;
  }
  return shown;
}

/** Trusts what the person has compared, if the service still shows it with the same signers and words. */
export async function trustShown(
  workspace: Workspace,
  { one, compared }: Parameters<Calls["trustShown"]>[0],
): Promise<TrustView> {
  const { client } = workspace;
  await trusting(client, one, (seen) => JSON.stringify(seen) === JSON.stringify(compared));
  // Opens what could not be opened before.
  client.secrets.expire();
  return trustView(workspace);
}

async function trusting(
  { organizations, folders, vaults, keyring }: PersonClient,
  one: HistoryName | null,
  confirm: (seen: ShownHistory[]) => boolean,
): Promise<void> {
  if (one === null) {
    await keyring.trust((shown) =>
      Promise.resolve(
        confirm(
          shown.map(({ res, name, signer, fingerprint: { words } }) => ({ res, name, signer, words, back: null })),
        ),
      ),
    );
    return;
  }
  const { kind, id, name } = one;
  const ask: ConfirmKey = ({ name: signer, fingerprint: { words }, goes_back: back = null }) =>
    Promise.resolve(confirm([{ res: `${kind}:${id}`, name, signer, words, back }]));
  await { org: organizations, folder: folders, vault: vaults }[kind].trust(id, ask);
}
