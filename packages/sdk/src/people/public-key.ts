import type { Permission, Role } from "@coffer/contract";
import { CryptoError, type Fingerprint, fingerprint } from "@coffer/crypto";
import { CofferError } from "../errors.ts";
import type { Send } from "../http/transport.ts";
import type { GoesBack } from "../trust/goes-back.ts";

/** A person or machine whose key no history confirms, or only after words are compared. */
export interface KeyHolder {
  kind: "user" | "client";
  id: string;
  name: string;
  /** base64 of the SPKI DER. */
  public_key: string;
  fingerprint: Fingerprint;
  /**
   * For a member of an organization: the role as the service states it, whose permission is signed
   * with the key.
   */
  role?: Role | undefined;
  /**
   * For a machine that gets several folders at once: the folders, with the permissions as the service
   * states them.
   */
  folders?: readonly { id: string; name: string; permission: Permission }[] | undefined;
  /** For a history that is trusted again: an entry that was seen here, and that it does not have. */
  goes_back?: GoesBack | undefined;
}

/**
 * Decides whether a public key belongs to the person or machine, after the fingerprint was compared
 * with them. Called only where no history decides: adoption, trust and confirmation. A rejection
 * stops before anything is sent.
 */
export type ConfirmKey = (holder: KeyHolder) => Promise<boolean>;

/**
 * The public key of a member of one of the caller's organizations. Throws CofferError `not_found`,
 * `bad_answer`.
 */
export async function publicKeyOf(
  send: Send,
  userId: string,
): Promise<{ public_key: string; fingerprint: Fingerprint }> {
  const path = `/api/users/${encodeURIComponent(userId)}/public_key`;
  const { public_key: publicKey } = (await send({ method: "GET", path })).body as { public_key?: unknown };
  return { public_key: textOf(publicKey), fingerprint: await fingerprintOf(publicKey) };
}

/**
 * Computes the fingerprint of a key that the service shows. Throws CofferError `bad_answer` for a
 * malformed key.
 */
export async function fingerprintOf(publicKey: unknown): Promise<Fingerprint> {
  try {
    return await fingerprint(textOf(publicKey));
  } catch (cause) {
    if (!(cause instanceof CryptoError)) throw cause;
    throw new CofferError("bad_answer", "the service's answer holds no public key", { cause });
  }
}

/** Throws CofferError `access_denied` when the key is not confirmed. */
export async function requireConfirmed(holder: Omit<KeyHolder, "fingerprint">, confirm: ConfirmKey): Promise<void> {
  if (await confirm({ ...holder, fingerprint: await fingerprintOf(holder.public_key) })) return;
  throw new CofferError("access_denied", `the public key of ${holder.name} was not confirmed`);
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}
