import { contexts, seal } from "@coffer/crypto";
import { askedFor } from "./asked-for.ts";
import { CofferError } from "./errors.ts";
import { fingerprintOf, requireConfirmed } from "./public-key.ts";
import type { ConfirmKey } from "./public-key.ts";
import { keyOf } from "./sealed-secret.ts";
import type { OpenFolder } from "./secret-store.ts";
import type { ApiAnswer, ApiRequest } from "./transport.ts";
import type { ClientGrantView, MachineView } from "./views.ts";

/** Which machine is given which folder, and what it may do in it. */
export interface GrantRequest {
  clientId: string;
  folderId: string;
  permission: "read" | "write";
}

/**
 * Seals a folder's key to a machine's public key and hands it over, or changes the machine's permission.
 * Throws CofferError `not_found` when the machine is none of these, `no_key` when the caller does not hold the folder's key,
 * `access_denied` when the machine's key is not confirmed or the caller does not manage the folder, `conflict` when the
 * machine was cut off or the folder's key was rotated meanwhile.
 */
export async function grantFolder(
  send: (request: ApiRequest) => Promise<ApiAnswer>,
  machines: readonly MachineView[],
  folder: OpenFolder,
  { clientId, permission }: GrantRequest,
  path: string,
  confirm: ConfirmKey,
): Promise<ClientGrantView> {
  const machine = machines.find(({ client_id }) => client_id === clientId);
  if (machine === undefined) throw new CofferError("not_found", `there is no machine ${clientId} that you may see`);
  const key = keyOf(folder);
  const { name, public_key } = machine;
  const fingerprint = await fingerprintOf(public_key);
  await requireConfirmed({ kind: "client", id: clientId, name, public_key, fingerprint }, confirm);
  const body = {
    permission,
    encrypted_key: await seal(public_key, key, contexts.sharedFolderKey(folder.id)),
    key_version: folder.keyVersion,
  };
  const answer = await send({ method: "PUT", path, body });
  return askedFor<ClientGrantView>(answer, { client_id: clientId, folder_id: folder.id, permission });
}
