import { anyone, route } from "@coffer/http";
import { authenticateUser } from "../callers/user.ts";
import { loginFinish, loginStart, registration, registrationStart } from "./bodies.ts";
import { finishLogin } from "./finish-login.ts";
import { finishRegistration } from "./finish-registration.ts";
import { showAccount } from "./show.ts";
import { startLogin } from "./start-login.ts";
import { startRegistration } from "./start-registration.ts";

const post = { method: "POST", caller: anyone } as const;

/** Registration, login and the account. The operations record their failures themselves. */
export const accountRoutes = [
  route({
    ...post,
    path: "/api/auth/register/start",
    bucket: "strict",
    body: registrationStart,
    status: 200,
    run: startRegistration,
  }),
  route({
    ...post,
    path: "/api/auth/register/finish",
    bucket: "user",
    body: registration,
    status: 201,
    run: finishRegistration,
  }),
  route({ ...post, path: "/api/auth/login/start", bucket: "strict", body: loginStart, status: 200, run: startLogin }),
  route({ ...post, path: "/api/auth/login/finish", bucket: "user", body: loginFinish, status: 200, run: finishLogin }),
  route({
    method: "GET",
    path: "/api/account",
    bucket: "user",
    caller: authenticateUser,
    status: 200,
    run: showAccount,
  }),
];
