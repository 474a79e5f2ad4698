import { CofferError } from "../errors.ts";
import type { ApiAnswer } from "../http/transport.ts";
import type { TravelModeView } from "../views.ts";

/**
 * The travel mode of a response, which must match the request (`requested`). Throws CofferError
 * `bad_answer` otherwise: before a border, a foreign page must not look like a switched mode.
 */
export function travelModeOf({ status, body }: ApiAnswer, requested?: boolean): TravelModeView {
  const mode = body as TravelModeView | undefined; // what is used of it is looked at
  if (typeof mode?.enabled !== "boolean")
    throw new CofferError("bad_answer", "the service does not say whether travel mode is on", { status });
  if (requested === undefined || mode.enabled === requested) return mode;
  throw new CofferError("bad_answer", `travel mode is not ${requested ? "on" : "off"}, by the service's answer`, {
    status,
  });
}
