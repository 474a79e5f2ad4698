import { generateSigningKey, type SigningKey } from "@coffer/tokens";
import type { Transaction } from "@coffer/postgres";
import { newServerSetup } from "../accounts/opaque.ts";
import type { Deps } from "../deps.ts";
import {
  findServerKey,
  insertOpaqueSetup,
  insertServerKey,
  insertSigningKey,
  listOpaqueSetups,
  listSigningKeys,
  lockServerKeys,
  type OpaqueSetupRow,
  type SigningKeyRow,
} from "../store/accounts/server-keys.ts";
import { activeKeyOf } from "./active-key.ts";

export type PublicKey = SigningKeyRow["public_jwk"];

/** The service's keys at one moment. Every replica has the same. */
export interface KeyRing {
  /** Signs access tokens: the newest key that is active. */
  signing: SigningKey;
  /** Every key whose signature is accepted, newest first. */
  publicKeys: readonly PublicKey[];
  /** Makes and verifies refresh tokens. */
  refreshKey: Buffer;
  /** The MAC key by which accounts and pending operations are named. */
  accountKey: Buffer;
  /** Encrypts the secrets of second factors. */
  totpKey: Buffer;
  /** For new registrations and passwords: the newest active setup. */
  newestSetup: OpaqueSetupRow;
  /** Every OPAQUE setup, oldest first. */
  setups: readonly [OpaqueSetupRow, ...OpaqueSetupRow[]];
}

/** The names under which the service's own keys are stored. */
const ownKeys = { refreshKey: "refresh-tokens", accountKey: "accounts", totpKey: "totp" } as const;
const ownNames = Object.values(ownKeys);
const ownKeyBytes = 32;

/** Reads the keys; null while they do not exist. */
export async function readKeyRing({ database, now }: Pick<Deps, "database" | "now">): Promise<KeyRing | null> {
  const [signingKeys, setups, refreshKey, accountKey, totpKey] = await Promise.all([
    listSigningKeys(database.pool),
    listOpaqueSetups(database.pool),
    findServerKey(database.pool, ownKeys.refreshKey),
    findServerKey(database.pool, ownKeys.accountKey),
    findServerKey(database.pool, ownKeys.totpKey),
  ]);
  const at = now();
  const signing = activeKeyOf(signingKeys.toReversed(), at);
  const newestSetup = activeKeyOf(setups, at);
  const [oldest, ...newer] = setups;
  if (signing === undefined || oldest === undefined || newestSetup === undefined) return null;
  if (refreshKey === null || accountKey === null || totpKey === null) return null;
  return {
    signing: { kid: signing.kid, privateJwk: signing.private_jwk, publicJwk: signing.public_jwk },
    publicKeys: signingKeys.map(({ public_jwk }) => public_jwk),
    refreshKey,
    accountKey,
    totpKey,
    newestSetup,
    setups: [oldest, ...newer],
  };
}

/** Creates the missing keys. A lock makes one replica create them while others wait. */
export async function makeKeys({
  database,
  now,
  randomBytes,
}: Pick<Deps, "database" | "now" | "randomBytes">): Promise<void> {
  const fresh = { signing: await generateSigningKey(), setup: newServerSetup() };
  await database.transaction(async (tx: Transaction) => {
    await lockServerKeys(tx);
    const at = now();
    if ((await listSigningKeys(tx)).length === 0) {
      const { kid, privateJwk, publicJwk } = fresh.signing;
      await insertSigningKey(tx, { kid, privateJwk, publicJwk, now: at });
    }
    if ((await listOpaqueSetups(tx)).length === 0) await insertOpaqueSetup(tx, fresh.setup, at);
    for (const name of ownNames) {
      if ((await findServerKey(tx, name)) === null) await insertServerKey(tx, name, randomBytes(ownKeyBytes), at);
    }
  });
}
