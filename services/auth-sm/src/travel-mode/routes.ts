import { route } from "@coffer/http";
import { authenticateUser } from "../callers/user.ts";
import { memberPath } from "../members/bodies.ts";
import { type Attempt, attempting, oneself } from "../refusals.ts";
import { travelAction } from "./audit.ts";
import { memberTravelMode, ownTravelMode } from "./bodies.ts";
import { showTravelMode } from "./show.ts";
import { switchMembersTravelMode } from "./switch-members.ts";
import { switchOwnTravelMode } from "./switch-own.ts";

const own = "/api/account/travel-mode";
const user = { bucket: "user", caller: authenticateUser, status: 200 } as const;
const action: Attempt["action"] = ({ body }) => travelAction(memberTravelMode.safeParse(body).data?.enabled === true);
const member: Attempt["target"] = ({ user_id = null }) => ({ type: "user", id: user_id });

export const travelModeRoutes = [
  route({ ...user, method: "GET", path: own, run: showTravelMode }),
  attempting(
    action,
    oneself,
    route({ ...user, method: "PUT", path: own, body: ownTravelMode, run: switchOwnTravelMode }),
  ),
  attempting(
    action,
    member,
    route({
      ...user,
      method: "PUT",
      path: "/api/org/members/:user_id/travel-mode",
      params: memberPath,
      body: memberTravelMode,
      run: switchMembersTravelMode,
    }),
  ),
];
