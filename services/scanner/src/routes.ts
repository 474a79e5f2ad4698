import { route } from "@coffer/http";
import { authenticateCaller } from "./callers/caller.ts";
import { listRules } from "./rules/list.ts";
import { bodyLimitBytes, scanBody } from "./scan/body.ts";
import { requireRoom, scan } from "./scan/scan.ts";
import { scanPath } from "./scan/target.ts";

/** The service's HTTP surface. */
export const routes = [
  route({
    method: "POST",
    path: scanPath,
    bucket: "user",
    caller: authenticateCaller,
    body: scanBody,
    bodyLimitBytes,
    permit: requireRoom,
    status: 200,
    run: scan,
  }),
  route({
    method: "GET",
    path: "/api/scanner/rules",
    bucket: "user",
    caller: authenticateCaller,
    status: 200,
    run: listRules,
  }),
];
