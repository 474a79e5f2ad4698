import { CofferError } from "./errors.ts";
import type { ApiAnswer } from "./transport.ts";
import type { TravelModeView } from "./views.ts";

/**
 * Whether somebody travels, as an answer says, which is to be as it was `asked` for. Throws CofferError `bad_answer` for any
 * other: whoever turns travel mode on before a border must not take a page in the service's place for it.
 */
export function travelModeOf({ status, body }: ApiAnswer, asked?: boolean): TravelModeView {
  const mode = body as TravelModeView | undefined; // what is used of it is looked at
  if (typeof mode?.enabled !== "boolean")
    throw new CofferError("bad_answer", "the service does not say whether travel mode is on", { status });
  if (asked === undefined || mode.enabled === asked) return mode;
  throw new CofferError("bad_answer", `travel mode is not ${asked ? "on" : "off"}, by the service's answer`, {
    status,
  });
}
