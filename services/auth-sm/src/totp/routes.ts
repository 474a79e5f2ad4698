import { route } from "@coffer/http";
import { otpField, proofFields } from "../accounts/bodies.ts";
import { authenticateUser } from "../callers/user.ts";
import { attempting, oneself } from "../refusals.ts";
import { removeTotp } from "./remove.ts";
import { startTotp } from "./start.ts";
import { verifyTotp } from "./verify.ts";

const path = "/api/auth/totp";
const user = { bucket: "user", caller: authenticateUser } as const;

export const totpRoutes = [
  attempting(
    "user.totp.enabled",
    oneself,
    route({ ...user, method: "POST", path, body: proofFields, bodyOptional: true, status: 200, run: startTotp }),
  ),
  attempting(
    "user.totp.enabled",
    oneself,
    route({ ...user, method: "POST", path: `${path}/verify`, body: otpField, status: 200, run: verifyTotp }),
  ),
  attempting(
    "user.totp.disabled",
    oneself,
    route({ ...user, method: "DELETE", path, body: proofFields, bodyOptional: true, status: 204, run: removeTotp }),
  ),
];
