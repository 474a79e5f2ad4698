import { route } from "@coffer/http";
import type { Attempt } from "@coffer/service";
import { attempting, authenticateUser } from "@coffer/service";
import { endpointChange, endpointPath, newEndpoint } from "./bodies.ts";
import { createEndpoint } from "./create.ts";
import { listEndpoints } from "./list.ts";
import { removeEndpoint } from "./remove.ts";
import { testEndpoint } from "./test.ts";
import { changeEndpoint } from "./update.ts";

const base = "/api/org/siem/webhooks";
const user = { bucket: "user", caller: authenticateUser } as const;
const one = { ...user, path: `${base}/:id`, params: endpointPath } as const;
const target: Attempt["target"] = ({ id = null }) => ({ type: "siem_webhook", id });

/** The endpoints to which an organization's audit records are delivered. */
export const endpointRoutes = [
  route({ ...user, method: "GET", path: base, status: 200, run: listEndpoints }),
  attempting(
    "siem.webhook.created",
    target,
    route({ ...user, method: "POST", path: base, body: newEndpoint, status: 201, run: createEndpoint }),
  ),
  attempting(
    "siem.webhook.updated",
    target,
    route({ ...one, method: "PATCH", body: endpointChange, status: 200, run: changeEndpoint }),
  ),
  attempting(
    "siem.webhook.tested",
    target,
    route({ ...one, method: "POST", path: `${base}/:id/test`, status: 200, run: testEndpoint }),
  ),
  attempting("siem.webhook.deleted", target, route({ ...one, method: "DELETE", status: 204, run: removeEndpoint })),
];
