import { route } from "@coffer/http";
import { otpField, proofFields } from "../accounts/bodies.ts";
import { authenticateUser } from "../callers/user.ts";
import { oneself } from "../refusals.ts";
import { removeTotp } from "./remove.ts";
import { startTotp } from "./start.ts";
import { verifyTotp } from "./verify.ts";

const path = "/api/auth/totp";
const user = { bucket: "user", caller: authenticateUser } as const;

export const totpRoutes = [
  route({
    ...user,
    method: "POST",
    path,
    body: proofFields,
    bodyOptional: true,
    status: 200,
    audit: { action: "user.totp.enabled", target: oneself },
    run: startTotp,
  }),
  route({
    ...user,
    method: "POST",
    path: `${path}/verify`,
    body: otpField,
    status: 200,
    audit: { action: "user.totp.enabled", target: oneself },
    run: verifyTotp,
  }),
  route({
    ...user,
    method: "DELETE",
    path,
    body: proofFields,
    bodyOptional: true,
    status: 204,
    audit: { action: "user.totp.disabled", target: oneself },
    run: removeTotp,
  }),
];
