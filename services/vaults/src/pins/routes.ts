import { ServiceError } from "@coffer/errors";
import { base64Text, type Call, route } from "@coffer/http";
import { authenticateUser, type User } from "@coffer/service";
import { z } from "zod";
import { transactionInSession } from "../access/in-session.ts";
import { requireHeldVault } from "../access/vault.ts";
import type { Deps } from "../deps.ts";
import { putPin, type SealedPin } from "../store/vaults/vault-pins.ts";
import { vaultPath, type VaultPath } from "../vaults/bodies.ts";

const pinBody = z.object({ version: z.int().positive().max(2_147_483_647), sealed: base64Text(64) });
type PinBody = z.infer<typeof pinBody>;

/**
 * PUT /api/vaults/{id}/pin. The version is a compare-and-set: devices never overwrite each other.
 */
function putVaultPin(deps: Deps, { caller, params, body }: Call<User, VaultPath, PinBody>): Promise<SealedPin> {
  return transactionInSession(deps, caller, async (tx) => {
    const { id: vaultId } = await requireHeldVault(tx, caller, params.id, "read");
    if (await putPin(tx, { vaultId, userId: caller.userId, ...body })) return body;
    throw new ServiceError("precondition_failed", "another device has stored a newer version: read it and try again");
  });
}

/** Pins that a person's devices share. They are not audited, like a device's own storage. */
export const pinRoutes = [
  route({
    method: "PUT",
    path: "/api/vaults/:id/pin",
    bucket: "user",
    caller: authenticateUser,
    params: vaultPath,
    body: pinBody,
    status: 200,
    run: putVaultPin,
  }),
];
