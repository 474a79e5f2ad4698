import { route, type RouteAudit } from "@coffer/http";
import { authenticateUser } from "@coffer/service";
import { endpointChange, endpointPath, newEndpoint } from "./bodies.ts";
import { createEndpoint } from "./create.ts";
import { listEndpoints } from "./list.ts";
import { removeEndpoint } from "./remove.ts";
import { testEndpoint } from "./test.ts";
import { changeEndpoint } from "./update.ts";

const base = "/api/org/siem/webhooks";
const user = { bucket: "user", caller: authenticateUser } as const;
const one = { ...user, path: `${base}/:id`, params: endpointPath } as const;
const target: RouteAudit["target"] = ({ id = null }) => ({ type: "siem_webhook", id });

/** The endpoints to which an organization's audit records are delivered. */
export const endpointRoutes = [
  route({ ...user, method: "GET", path: base, status: 200, run: listEndpoints }),
  route({
    ...user,
    method: "POST",
    path: base,
    body: newEndpoint,
    status: 201,
    audit: { action: "siem.webhook.created", target },
    run: createEndpoint,
  }),
  route({
    ...one,
    method: "PATCH",
    body: endpointChange,
    status: 200,
    audit: { action: "siem.webhook.updated", target },
    run: changeEndpoint,
  }),
  route({
    ...one,
    method: "POST",
    path: `${base}/:id/test`,
    status: 200,
    audit: { action: "siem.webhook.tested", target },
    run: testEndpoint,
  }),
  route({
    ...one,
    method: "DELETE",
    status: 204,
    audit: { action: "siem.webhook.deleted", target },
    run: removeEndpoint,
  }),
];
