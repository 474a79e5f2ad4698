import { seal } from "@coffer/crypto";
import type { Context } from "@coffer/crypto";
import { holderOf } from "@coffer/history";
import type { Holder, HistoryState, Resource } from "@coffer/history";
import type { Permission } from "../views.ts";
import { forgetEnded } from "./ended.ts";
import type { PersonTrust } from "./person-trust.ts";

/** The fields of a request that gives a holder a key. */
export interface GrantBody {
  permission: Permission;
  encrypted_key: string;
  key_version: number | null;
  /** Undefined when the history names the holder so already. */
  entry: string | undefined;
}

/** How the key of a folder or vault is given to a holder. */
export interface Granting<T> {
  /** With the public key that the key may be sealed to. */
  holder: Pick<Holder, "who" | "key">;
  permission: Permission;
  /** The key of the version that the history names. */
  key: Uint8Array;
  /** What the sealed key is bound to. */
  context: Context;
  send(body: GrantBody): Promise<T>;
}

/**
 * Seals the key of a folder or vault to a holder and hands it over with the entry that names the holder, or changes the
 * holder's permission. `make` sees the newest state. Throws what it throws; CofferError `access_denied` when the caller does
 * not manage the folder or vault.
 */
export function grantKey<T>(
  trust: PersonTrust,
  res: Resource,
  make: (state: HistoryState) => Promise<Granting<T>>,
): Promise<T> {
  return trust.sign(res, async ({ state }) => {
    const { holder, permission, key, context, send } = await make(state);
    const encryptedKey = await seal(holder.key, key, context);
    const present = holderOf(state, holder.who);
    const isThere = present?.key === holder.key && present.perm === permission;
    return {
      change: isThere ? undefined : { set: [{ who: holder.who, key: holder.key, perm: permission }] },
      async send(entry) {
        const result = await send({ permission, encrypted_key: encryptedKey, key_version: state.ver, entry });
        await forgetEnded(trust.histories, holder.who, res);
        return result;
      },
    };
  });
}
