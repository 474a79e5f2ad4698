import { route } from "@coffer/http";
import { authenticateUser } from "@coffer/service";
import { vaultPath } from "../vaults/bodies.ts";
import { pinBody } from "./bodies.ts";
import { putVaultPin } from "./put.ts";

/** What a person's own devices share; like a device's own storage it leaves no audit record. */
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
