import type { SigningKey } from "@coffer/tokens";
import { generateSigningKey } from "@coffer/tokens";
import type { Transaction } from "@coffer/postgres";
import { newServerSetup } from "../accounts/opaque.ts";
import type { Deps } from "../deps.ts";
import type { OpaqueSetupRow, SigningKeyRow } from "../store/server-keys.ts";
import {
  findServerKey,
  insertOpaqueSetup,
  insertServerKey,
  insertSigningKey,
  listOpaqueSetups,
  listSigningKeys,
  lockServerKeys,
} from "../store/server-keys.ts";
import { settledOf } from "./settled.ts";

/** A public key as a JSON Web Key Set shows it. */
export type PublicKey = SigningKeyRow["public_jwk"];

/** The service's keys as they are at one moment, the same in every replica. */
export interface KeyRing {
  /** It signs people's access tokens: the newest that has settled. */
  signing: SigningKey;
  /** Every key whose signature is accepted, the newest first. */
  publicKeys: readonly PublicKey[];
  /** Makes and recognises refresh tokens. */
  refreshKey: Buffer;
  /** Names accounts, and what people begin, without saying which. */
  accountKey: Buffer;
  /** Seals the secrets of second factors. */
  totpKey: Buffer;
  /** For new registrations and passwords: the newest that has settled. */
  newestSetup: OpaqueSetupRow;
  /** Every OPAQUE setup, the oldest first. */
  setups: readonly [OpaqueSetupRow, ...OpaqueSetupRow[]];
}

/** The keys that only the service itself uses, by the name under which they are kept. */
const ownKeys = { refreshKey: "refresh-tokens", accountKey: "accounts", totpKey: "totp" } as const;
const ownNames = Object.values(ownKeys);
const ownKeyBytes = 32;

/** Reads the keys; null while they have not been made. */
export async function readKeyRing({ database, now }: Pick<Deps, "database" | "now">): Promise<KeyRing | null> {
  const [signingKeys, setups, refreshKey, accountKey, totpKey] = await Promise.all([
    listSigningKeys(database.pool),
    listOpaqueSetups(database.pool),
    findServerKey(database.pool, ownKeys.refreshKey),
    findServerKey(database.pool, ownKeys.accountKey),
    findServerKey(database.pool, ownKeys.totpKey),
  ]);
  const at = now();
  const signing = settledOf(signingKeys.toReversed(), at);
  const newestSetup = settledOf(setups, at);
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

/** Makes what is missing of the keys. One replica does; those that start at the same moment wait for it. */
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
