import { route } from "@coffer/http";
import { authenticateUser } from "../callers/user.ts";
import { newKeyring } from "./bodies.ts";
import { replaceKeyring } from "./replace.ts";
import { showKeyring } from "./show.ts";

const user = { bucket: "user", caller: authenticateUser, path: "/api/account/keyring", status: 200 } as const;

export const keyringRoutes = [
  route({ ...user, method: "GET", run: showKeyring }),
  route({ ...user, method: "PUT", body: newKeyring, run: replaceKeyring }),
];
