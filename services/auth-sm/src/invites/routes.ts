import { route, type RouteAudit } from "@coffer/http";
import { authenticateUser } from "../callers/user.ts";
import { acceptInvite } from "./accept.ts";
import { acceptance, invitePath, newInvite } from "./bodies.ts";
import { inviteMember } from "./create.ts";
import { listOpenInvites } from "./list.ts";
import { revokeInvite } from "./revoke.ts";

const base = "/api/org/invites";
const user = { bucket: "user", caller: authenticateUser } as const;
const invite: RouteAudit["target"] = ({ id = null }) => ({ type: "invite", id });

export const inviteRoutes = [
  route({ ...user, method: "GET", path: base, status: 200, run: listOpenInvites }),
  route({
    ...user,
    method: "POST",
    path: base,
    body: newInvite,
    status: 201,
    audit: { action: "org.member.invited", target: invite },
    run: inviteMember,
  }),
  // The operation records its refusals, in the chain of the inviting organization.
  route({ ...user, method: "POST", path: `${base}/accept`, body: acceptance, status: 200, run: acceptInvite }),
  route({
    ...user,
    method: "DELETE",
    path: `${base}/:id`,
    params: invitePath,
    status: 204,
    audit: { action: "org.member.removed", target: invite },
    run: revokeInvite,
  }),
];
