import { encodeBase64Url, encodeText, signEs256 } from "@coffer/crypto";
import type { Change, Claims, Resource, SignerId } from "./claims.ts";
import { entryHeader } from "./claims.ts";
import { extend } from "./extend.ts";
import type { HistoryState } from "./state.ts";

export interface SignedEntry {
  /** The compact JWS. */
  text: string;
  state: HistoryState;
}

/**
 * Signs the next entry of a history, and checks it as its readers will.
 * @param before the newest state; null for entry 0
 * @param by the signer: a person, or an invitation
 * @param privateKey PKCS#8 DER of the person, or of the invitation's join key
 * @throws HistoryError `history_invalid` when the entry would not be valid; CryptoError
 * `invalid_key`
 */
export async function sign(
  before: HistoryState | null,
  res: Resource,
  by: SignerId,
  privateKey: Uint8Array,
  change: Change,
): Promise<SignedEntry> {
  const { org, name, set = [], drop = [], cut, invite = [], ver, check } = change;
  const claims: Claims = {
    res,
    ...(org === undefined ? {} : { org }),
    ...placeAfter(before),
    by,
    ...(name === undefined ? {} : { name }),
    ...(set.length === 0 ? {} : { set }),
    ...(drop.length === 0 ? {} : { drop }),
    ...(cut === undefined ? {} : { cut }),
    ...(invite.length === 0 ? {} : { invite }),
    ...(ver === undefined ? {} : { ver }),
    ...(check === undefined ? {} : { check }),
  };
  const signed = [entryHeader, JSON.stringify(claims)].map((part) => encodeBase64Url(encodeText(part))).join(".");
  const text = `${signed}.${encodeBase64Url(await signEs256(privateKey, encodeText(signed)))}`;
  return { text, state: await extend(before, res, text) };
}

/** The position of the entry after a state. */
export function placeAfter(before: HistoryState | null): { seq: number; prev: string | null } {
  return before === null ? { seq: 0, prev: null } : { seq: before.head.seq + 1, prev: before.head.hash };
}
