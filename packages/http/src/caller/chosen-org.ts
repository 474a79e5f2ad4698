import { uuidText } from "../request/fields.ts";

/** For a malformed `X-Coffer-Org`, so that it is refused like a foreign organization. */
const noOrg = "00000000-0000-0000-0000-000000000000";

/** The organization in `X-Coffer-Org`; undefined without one. */
export function chosenOrg(header: string | string[] | undefined): string | undefined {
  if (header === undefined) return undefined;
  return uuidText.safeParse(header).data ?? noOrg;
}
