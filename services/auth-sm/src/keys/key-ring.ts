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

/** A public key as a JSON Web Key Set shows it. */
export type PublicKey = SigningKeyRow["public_jwk"];

/** The service's keys as they are at one moment, the same in every replica. */
export interface KeyRing {
  /** The newest: it signs people's access tokens. */
  signing: SigningKey;
  /** Every key whose signature is accepted. */
  publicKeys: readonly PublicKey[];
  /** Makes and recognises refresh tokens. */
  refreshKey: Buffer;
  /** For new registrations. */
  newestSetup: OpaqueSetupRow;
  oldestSetup: OpaqueSetupRow;
  /** The OPAQUE setup that a record names. Throws an Error when there is none. */
  setup(id: number): string;
}

const refreshKeyName = "refresh-tokens";

/** Reads the keys; null while they have not been made. */
export async function readKeyRing(database: Deps["database"]): Promise<KeyRing | null> {
  const [signingKeys, setups, refreshKey] = await Promise.all([
    listSigningKeys(database.pool),
    listOpaqueSetups(database.pool),
    findServerKey(database.pool, refreshKeyName),
  ]);
  const [signing] = signingKeys;
  const [oldestSetup] = setups;
  const newestSetup = setups.at(-1);
  if (signing === undefined || oldestSetup === undefined || newestSetup === undefined || refreshKey === null)
    return null;
  const setupById = new Map(setups.map(({ id, setup }) => [id, setup]));
  return {
    signing: { kid: signing.kid, privateJwk: signing.private_jwk, publicJwk: signing.public_jwk },
    publicKeys: signingKeys.map(({ public_jwk }) => public_jwk),
    refreshKey,
    newestSetup,
    oldestSetup,
    setup(id) {
      const setup = setupById.get(id);
      if (setup === undefined) throw new Error(`a login record names the OPAQUE setup ${id}, which is gone`);
      return setup;
    },
  };
}

/** Makes what is missing of the keys. One replica does; those that start at the same moment wait for it. */
export async function makeKeys({
  database,
  now,
  randomBytes,
}: Pick<Deps, "database" | "now" | "randomBytes">): Promise<void> {
  const fresh = { signing: await generateSigningKey(), setup: newServerSetup(), refreshKey: randomBytes(32) };
  await database.transaction(async (tx: Transaction) => {
    await lockServerKeys(tx);
    const at = now();
    if ((await listSigningKeys(tx)).length === 0) {
      const { kid, privateJwk, publicJwk } = fresh.signing;
      await insertSigningKey(tx, { kid, privateJwk, publicJwk, now: at });
    }
    if ((await listOpaqueSetups(tx)).length === 0) await insertOpaqueSetup(tx, fresh.setup, at);
    if ((await findServerKey(tx, refreshKeyName)) === null)
      await insertServerKey(tx, refreshKeyName, fresh.refreshKey, at);
  });
}
