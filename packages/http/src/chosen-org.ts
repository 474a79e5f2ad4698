import { uuidText } from "./fields.ts";

/** The id of no organization: what a malformed `X-Coffer-Org` names, so that it is refused like any foreign one. */
const noOrg = "00000000-0000-0000-0000-000000000000";

/** The organization that a request names in `X-Coffer-Org`; undefined when it names none. */
export function chosenOrg(header: string | string[] | undefined): string | undefined {
  if (header === undefined) return undefined;
  return uuidText.safeParse(header).data ?? noOrg;
}
