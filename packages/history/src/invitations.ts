import { box, contexts, newKeyPair, publicKeyOf, unboxBound } from "@coffer/crypto";
import type { Invitation, Resource } from "./claims.ts";
import { HistoryError } from "./history-error.ts";
import { placeAfter } from "./sign.ts";
import type { HistoryState, OpenInvitation } from "./state.ts";

export interface InvitationRequest extends Pick<Invitation, "tag" | "kind" | "perm" | "email"> {
  /** 32 bytes: the wrap key of the token. */
  wrapKey: Uint8Array;
}

/**
 * Makes an invitation for the next entry and no other: a join key that only the token opens.
 * @param before the newest state; null when the invitation goes into entry 0
 * @throws CryptoError `invalid_key`
 */
export async function makeInvitation(
  before: HistoryState | null,
  res: Resource,
  { wrapKey, tag, kind, perm, email }: InvitationRequest,
): Promise<Invitation> {
  const { seq, prev } = placeAfter(before);
  const { publicKey, privateKey } = await newKeyPair();
  const sealed = await box(wrapKey, privateKey, contexts.join(res, seq, prev));
  return { tag, kind, perm, ...(email === undefined ? {} : { email }), join_key: publicKey, sealed };
}

/**
 * Opens the join key of an invitation. Success proves that the history up to the invitation is the
 * one that the token's maker saw, because `sealed` is bound to the previous entry.
 * @param invitation one of this history, open or used; undefined is refused
 * @param wrapKey 32 bytes: the wrap key of the token
 * @returns PKCS#8 DER
 * @throws HistoryError `join_invalid` when there is no such invitation, or it does not fit the
 * token
 */
export async function openInvitation(
  res: Resource,
  invitation: OpenInvitation | undefined,
  wrapKey: Uint8Array,
): Promise<Uint8Array> {
  const refuse = (why: string): HistoryError =>
    new HistoryError("join_invalid", `the invitation to ${res} cannot be used: ${why}`, { res });
  if (invitation === undefined) throw refuse("it is not open; ask for a new one");
  const { sealed, seq, prev, join_key: joinKey } = invitation;
  const privateKey = await unboxBound(wrapKey, sealed, contexts.join(res, seq, prev)).catch(() => {
    throw refuse("it was not made for this token");
  });
  const publicKey = await publicKeyOf(privateKey).catch(() => "");
  if (publicKey !== joinKey) throw refuse("its two keys are no pair");
  return privateKey;
}
