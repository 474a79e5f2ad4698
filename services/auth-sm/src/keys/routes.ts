import { anyone, route } from "@coffer/http";
import { showJwks } from "./jwks.ts";

export const keyRoutes = [
  route({ method: "GET", path: "/.well-known/jwks.json", bucket: "user", caller: anyone, status: 200, run: showJwks }),
];
