import { randomUUID } from "node:crypto";
import { newKeyPair } from "@coffer/crypto";
import type { KeyPair } from "@coffer/crypto";
import { sign } from "@coffer/history";
import type { Change, HistoryState, Holder, Resource } from "@coffer/history";
import type { AnswerBody } from "./call.ts";
import { call } from "./call.ts";
import type { Person } from "./people.ts";
import type { TestVaults } from "./service.ts";
import { expected, sealed } from "./vaults.ts";

/** A person with the key pair that signs. */
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

/** A shared vault with a history; its newest state. */
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
