import { route, type RouteAudit } from "@coffer/http";
import { authenticateUser } from "../callers/user.ts";
import { pageQuery } from "../lists/answer-list.ts";
import { applicationChange, applicationPath, newApplication } from "./bodies.ts";
import { createApplication } from "./create.ts";
import { listOrgApplications } from "./list.ts";
import { removeApplication } from "./remove.ts";
import { updateApplication } from "./update.ts";

const base = "/api/org/applications";
const user = { bucket: "user", caller: authenticateUser } as const;
const application: RouteAudit["target"] = ({ id = null }) => ({ type: "application", id });

export const applicationRoutes = [
  route({ ...user, method: "GET", path: base, query: pageQuery, status: 200, run: listOrgApplications }),
  route({
    ...user,
    method: "POST",
    path: base,
    body: newApplication,
    status: 201,
    audit: { action: "application.created", target: application },
    run: createApplication,
  }),
  route({
    ...user,
    method: "PATCH",
    path: `${base}/:id`,
    params: applicationPath,
    body: applicationChange,
    status: 200,
    audit: { action: "application.updated", target: application },
    run: updateApplication,
  }),
  route({
    ...user,
    method: "DELETE",
    path: `${base}/:id`,
    params: applicationPath,
    status: 204,
    audit: { action: "application.deleted", target: application },
    run: removeApplication,
  }),
];
