import { scanDocuments } from "@coffer/events";
import type { Deps } from "./deps.ts";
import { scanForService } from "./scan/scan-for-service.ts";

/** Answers the bus requests of other services. */
export function answerRequests(deps: Deps): void {
  deps.bus.reply(scanDocuments, (asked) => scanForService(deps, asked));
}
