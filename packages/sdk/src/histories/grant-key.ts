import type { Permission } from "@coffer/contract";
import type { Context } from "@coffer/crypto";
import { type HistoryState, type Holder, holderOf, type Resource } from "@coffer/history";
import { CofferError } from "../errors.ts";
import { confirmedKey, sealToHolder } from "../trust/confirmed-key.ts";
import { forgetEnded } from "../trust/ended.ts";
import type { PersonTrust } from "../trust/person-trust.ts";

/** The fields of a request that grants a key. */
export interface GrantBody {
  permission: Permission;
  encrypted_key: string;
  key_version: number | null;
  /** Undefined when the history names the grant already. */
  entry: string | undefined;
}

/** How the key of a folder or vault is granted. */
export interface Granting<T> {
  /** With the public key that the key may be sealed to. */
  holder: Pick<Holder, "who" | "key">;
  permission: Permission;
  /** The key of the version that the history names. */
  key: Uint8Array;
  /** The context of the sealed key. */
  context: Context;
  send(body: GrantBody): Promise<T>;
}

/**
 * Seals the key of a folder or vault to a member or machine and sends it with the entry that names
 * the grant, or changes the permission. `make` receives the newest states of the history and of its
 * organization's. Throws what `make` throws, and CofferError `access_denied` when the caller does
 * not manage the folder or vault, `holder_unconfirmed` when nothing may be sealed to the holder.
 */
export function grantKey<T>(
  trust: PersonTrust,
  res: Resource,
  make: (state: HistoryState, organization: HistoryState) => Promise<Granting<T>>,
): Promise<T> {
  return trust.sign(res, async (trusted, organization) => {
    const { state } = trusted;
    const { holder, permission, key, context, send } = await make(state, organization);
    const isThere =
      holderOf(state, holder.who)?.perm === permission &&
      (await confirmedKey(organization, trusted, holder.who)) === holder.key;
    return {
      change: isThere ? undefined : { set: [{ who: holder.who, key: holder.key, perm: permission }] },
      async send(entry, after) {
        const confirmed = await confirmedKey(organization, { state: after }, holder.who);
        if (confirmed !== holder.key) throw unconfirmed(state.name, holder.who);
        const encryptedKey = await sealToHolder(confirmed, key, context);
        const result = await send({ permission, encrypted_key: encryptedKey, key_version: state.ver, entry });
        await forgetEnded(trust.histories, holder.who, res);
        return result;
      },
    };
  });
}

function unconfirmed(name: string, who: string): CofferError {
  return new CofferError("holder_unconfirmed", `the histories do not confirm ${who} for ${name}: no key was sealed`);
}
