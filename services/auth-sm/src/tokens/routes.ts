import { route, type RouteAudit } from "@coffer/http";
import { applicationPath } from "../applications/bodies.ts";
import { authenticateUser } from "../callers/user.ts";
import { pageQuery } from "../lists/answer-list.ts";
import { newToken, tokenPath } from "./bodies.ts";
import { issueToken } from "./issue.ts";
import { listTokens } from "./list.ts";
import { revokeToken } from "./revoke.ts";

const base = "/api/org/applications/:id/tokens";
const user = { bucket: "user", caller: authenticateUser } as const;
const token: RouteAudit["target"] = ({ id = "", token_id = null }) => ({ type: "token", id: token_id, parent_id: id });

export const tokenRoutes = [
  route({
    ...user,
    method: "GET",
    path: base,
    params: applicationPath,
    query: pageQuery,
    status: 200,
    run: listTokens,
  }),
  route({
    ...user,
    method: "POST",
    path: base,
    params: applicationPath,
    body: newToken,
    status: 201,
    audit: { action: "token.issued", target: token },
    run: issueToken,
  }),
  route({
    ...user,
    method: "DELETE",
    path: `${base}/:token_id`,
    params: tokenPath,
    status: 204,
    audit: { action: "token.revoked", target: token },
    run: revokeToken,
  }),
];
