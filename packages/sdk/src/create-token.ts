import { box, contexts, newAccessToken, readAccessToken } from "@coffer/crypto";
import { CofferError } from "./errors.ts";
import { keyOf } from "./sealed-secret.ts";
import type { OpenFolder } from "./secret-store.ts";
import type { ApiAnswer, ApiRequest } from "./transport.ts";
import type { TokenView } from "./views.ts";

export interface TokenRequest {
  applicationId: string;
  name: string;
  folders: { folderId: string; permission: "read" | "write" }[];
  /** ISO 8601; the service's default is a day from now, its limit seven days. */
  expiresAt?: string | undefined;
  clientExpiresAt?: string | undefined;
  allowedCidrs?: string[] | undefined;
}

/** `token` is what the machine is given; it is nowhere else and cannot be had again. */
export interface NewToken extends TokenView {
  token: string;
}

/**
 * Makes a one-time token on this machine: the service gets its hash and the folder keys sealed for it, and can open
 * neither. Throws CofferError `no_key` for a folder whose key the caller does not hold.
 */
export async function createToken(
  send: (request: ApiRequest) => Promise<ApiAnswer>,
  folders: readonly OpenFolder[],
  request: TokenRequest,
): Promise<NewToken> {
  const token = newAccessToken();
  const { tokenHash, wrapKey } = await readAccessToken(token);
  const grants = request.folders.map(async ({ folderId, permission }) => {
    const folder = folders.find(({ id }) => id === folderId);
    if (folder === undefined) throw new CofferError("not_found", `there is no folder ${folderId} that you may use`);
    return {
      folder_id: folderId,
      permission,
      encrypted_folder_key: await box(wrapKey, keyOf(folder), contexts.sharedFolderKey(folderId)),
      key_version: folder.keyVersion,
    };
  });
  const answer = await send({
    method: "POST",
    path: `/api/org/applications/${encodeURIComponent(request.applicationId)}/tokens`,
    body: {
      name: request.name,
      token_hash: tokenHash,
      folders: await Promise.all(grants),
      expires_at: request.expiresAt,
      client_expires_at: request.clientExpiresAt,
      allowed_cidrs: request.allowedCidrs,
    },
  });
  return { ...(answer.body as TokenView), token };
}
