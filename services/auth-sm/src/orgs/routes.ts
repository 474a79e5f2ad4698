import { route } from "@coffer/http";
import { authenticateUser } from "../callers/user.ts";
import { createOrg, newOrg } from "./create.ts";
import { showOrg } from "./show.ts";

const user = { bucket: "user", caller: authenticateUser } as const;

export const orgRoutes = [
  route({ ...user, method: "POST", path: "/api/orgs", body: newOrg, status: 201, run: createOrg }),
  route({ ...user, method: "GET", path: "/api/org", status: 200, run: showOrg }),
];
