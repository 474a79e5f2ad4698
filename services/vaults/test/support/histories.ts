import { randomUUID } from "node:crypto";
import { type KeyPair, newKeyPair } from "@coffer/crypto";
import { type Change, type HistoryState, type Holder, type Resource, sign } from "@coffer/history";
import { type AnswerBody, call } from "./call.ts";
import type { Person } from "./people.ts";
import type { TestVaults } from "./service.ts";
import { expected, sealed } from "./vaults.ts";

/** A person with a signing key pair. */
export type Signer = Person & { pair: KeyPair };

export async function newSigner(
  { people }: TestVaults,
  orgId: string,
  role: "owner" | "member" = "member",
): Promise<Signer> {
  return { ...(await people.add({ orgId, role })), pair: await newKeyPair() };
}

export const check = "ab".repeat(32);

export function holder({ userId, pair }: Signer, perm: Holder["perm"]): Holder {
  return { who: `user:${userId}`, key: pair.publicKey, perm };
}

/** Signs the next entry of a vault's history. */
export function entryOf(before: HistoryState | null, vaultId: string, by: Signer, change: Change) {
  const res: Resource = `vault:${vaultId}`;
  return sign(before, res, `user:${by.userId}`, by.pair.privateKey, change);
}

/** Makes a shared vault with a history; returns its newest state too. */
export async function newSignedVault(
  service: TestVaults,
  orgId: string,
  owner: Signer,
): Promise<{ vault: AnswerBody; path: string; state: HistoryState }> {
  const id = randomUUID();
  const change = { name: "Vault", org: orgId, ver: 1, check, set: [holder(owner, "manage")] };
  const { text, state } = await entryOf(null, id, owner, change);
  const body = { id, name: "Vault", type: "shared", encrypted_key: sealed(), entry: text };
  const vault = expected(await call(service, owner, "POST", "/api/vaults", { body }), 201);
  return { vault, path: `/api/vaults/${id}`, state };
}
