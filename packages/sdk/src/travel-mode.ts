import { CofferError } from "./errors.ts";
import type { ApiAnswer } from "./transport.ts";
import type { TravelModeView } from "./views.ts";

/**
 * Whether somebody travels, as an answer says. Throws CofferError `bad_answer` for one that does not: whoever turns travel
 * mode on before a border must not take a page in the service's place for it.
 */
export function travelModeOf({ status, body }: ApiAnswer): TravelModeView {
  const mode = body as TravelModeView | undefined; // what is used of it is looked at
  if (typeof mode?.enabled === "boolean") return mode;
  throw new CofferError("bad_answer", "the service does not say whether travel mode is on", { status });
}
