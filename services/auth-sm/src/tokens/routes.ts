import { route } from "@coffer/http";
import { applicationPath } from "../applications/bodies.ts";
import { authenticateUser } from "../callers/user.ts";
import { type Attempt, attempting } from "../refusals.ts";
import { newToken, tokenPath } from "./bodies.ts";
import { issueToken } from "./issue.ts";
import { listTokens } from "./list.ts";
import { revokeToken } from "./revoke.ts";

const base = "/api/org/applications/:id/tokens";
const user = { bucket: "user", caller: authenticateUser } as const;
const token: Attempt["target"] = ({ id = "", token_id = null }) => ({ type: "token", id: token_id, parent_id: id });

export const tokenRoutes = [
  route({ ...user, method: "GET", path: base, params: applicationPath, status: 200, run: listTokens }),
  attempting(
    "token.issued",
    token,
    route({
      ...user,
      method: "POST",
      path: base,
      params: applicationPath,
      body: newToken,
      status: 201,
      run: issueToken,
    }),
  ),
  attempting(
    "token.revoked",
    token,
    route({ ...user, method: "DELETE", path: `${base}/:token_id`, params: tokenPath, status: 204, run: revokeToken }),
  ),
];
