import { route } from "@coffer/http";
import { authenticateUser } from "../callers/user.ts";
import { showPublicKey, userPath } from "./show-public-key.ts";

export const userRoutes = [
  route({
    method: "GET",
    path: "/api/users/:id/public_key",
    bucket: "user",
    caller: authenticateUser,
    params: userPath,
    status: 200,
    run: showPublicKey,
  }),
];
