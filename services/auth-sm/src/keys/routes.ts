import { anyone, route } from "@coffer/http";
import { showJwks } from "./jwks.ts";

/** The public keys of people's tokens, for whoever verifies them. */
export const keyRoutes = [
  route({ method: "GET", path: "/.well-known/jwks.json", bucket: "user", caller: anyone, status: 200, run: showJwks }),
];
