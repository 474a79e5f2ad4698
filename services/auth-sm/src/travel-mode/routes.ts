import { route, type RouteAudit } from "@coffer/http";
import { authenticateUser } from "../callers/user.ts";
import { memberPath } from "../members/bodies.ts";
import { oneself } from "../refusals.ts";
import { memberTravelMode, ownTravelMode } from "./bodies.ts";
import { showTravelMode } from "./show.ts";
import { switchMembersTravelMode } from "./switch-members.ts";
import { switchOwnTravelMode } from "./switch-own.ts";

const own = "/api/account/travel-mode";
const user = { bucket: "user", caller: authenticateUser, status: 200 } as const;
const action: RouteAudit["action"] = ({ body }) =>
  memberTravelMode.safeParse(body).data?.enabled === true ? "user.travel_mode.enabled" : "user.travel_mode.disabled";
const member: RouteAudit["target"] = ({ user_id = null }) => ({ type: "user", id: user_id });

export const travelModeRoutes = [
  route({ ...user, method: "GET", path: own, run: showTravelMode }),
  route({
    ...user,
    method: "PUT",
    path: own,
    body: ownTravelMode,
    audit: { action, target: oneself },
    run: switchOwnTravelMode,
  }),
  route({
    ...user,
    method: "PUT",
    path: "/api/org/members/:user_id/travel-mode",
    params: memberPath,
    body: memberTravelMode,
    audit: { action, target: member },
    run: switchMembersTravelMode,
  }),
];
