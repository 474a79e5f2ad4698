import { ServiceError } from "@coffer/errors";
import type { Call } from "@coffer/http";
import type { User } from "@coffer/service";
import { transactionInSession } from "../access/in-session.ts";
import { requireHeldVault } from "../access/vault.ts";
import type { Deps } from "../deps.ts";
import type { SealedPin } from "../store/vault-pins.ts";
import { putPin } from "../store/vault-pins.ts";
import type { VaultPath } from "../vaults/bodies.ts";
import type { PinBody } from "./bodies.ts";

/** PUT /api/vaults/{id}/pin: what the caller's devices share of the vault's history. Two devices never overwrite each other. */
export function putVaultPin(deps: Deps, { caller, params, body }: Call<User, VaultPath, PinBody>): Promise<SealedPin> {
  return transactionInSession(deps, caller, async (tx) => {
    const { id: vaultId } = await requireHeldVault(tx, caller, params.id, "read");
    if (await putPin(tx, { vaultId, userId: caller.userId, ...body })) return body;
    throw new ServiceError("precondition_failed", "another device has stored a newer version: read it and try again");
  });
}
