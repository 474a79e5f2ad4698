import { route } from "@coffer/http";
import { authenticateUser } from "../callers/user.ts";
import { type Attempt, attempting } from "../refusals.ts";
import { applicationChange, applicationPath, newApplication } from "./bodies.ts";
import { createApplication } from "./create.ts";
import { listOrgApplications } from "./list.ts";
import { removeApplication } from "./remove.ts";
import { updateApplication } from "./update.ts";

const base = "/api/org/applications";
const user = { bucket: "user", caller: authenticateUser } as const;
const application: Attempt["target"] = ({ id = null }) => ({ type: "application", id });

export const applicationRoutes = [
  route({ ...user, method: "GET", path: base, status: 200, run: listOrgApplications }),
  attempting(
    "application.created",
    application,
    route({ ...user, method: "POST", path: base, body: newApplication, status: 201, run: createApplication }),
  ),
  attempting(
    "application.updated",
    application,
    route({
      ...user,
      method: "PATCH",
      path: `${base}/:id`,
      params: applicationPath,
      body: applicationChange,
      status: 200,
      run: updateApplication,
    }),
  ),
  attempting(
    "application.deleted",
    application,
    route({
      ...user,
      method: "DELETE",
      path: `${base}/:id`,
      params: applicationPath,
      status: 204,
      run: removeApplication,
    }),
  ),
];
