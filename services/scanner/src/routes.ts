import { route } from "@coffer/http";
import { authenticateCaller } from "./callers/caller.ts";
import { listRules } from "./rules/list.ts";
import { bodyLimitBytes, scanBody } from "./scan/body.ts";
import { requireRoom, scan } from "./scan/scan.ts";

/** The service's HTTP surface. */
export const routes = [
  route({
    method: "POST",
    path: "/api/scanner/scan",
    bucket: "user",
    caller: authenticateCaller,
    body: scanBody,
    bodyLimitBytes,
    permit: requireRoom,
    status: 200,
    // Audit records contain no paths.
    audit: { action: "scanner.scanned", target: () => ({ type: "scan", id: null }) },
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
