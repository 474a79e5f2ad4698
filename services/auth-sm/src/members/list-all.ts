import { ServiceError } from "@coffer/errors";
import type { memberships } from "@coffer/events";
import { z } from "zod";
import type { Deps } from "../deps.ts";
import { listMemberships } from "../store/members.ts";
import { settleMembershipVersions } from "../store/membership-versions.ts";

type Page = z.infer<typeof memberships.output>;

/** With the longest names and e-mails a page stays under what the bus carries. */
const pageSize = 300;

/** Where a page ended: the `as_of` of the first one, the organization and the person. */
const place = z.tuple([z.coerce.number().int().nonnegative(), z.uuid(), z.uuid()]);

/**
 * A page of all memberships. `as_of` is settled before the first of them is read: what had a version up to it and is in no
 * page has ended.
 * @throws ServiceError `invalid_request` for an `after` that no page had
 */
export async function listAllMemberships({ database }: Pick<Deps, "database">, after: string | null): Promise<Page> {
  const from = after === null ? null : placeOf(after);
  const as_of = from === null ? await database.transaction(settleMembershipVersions) : from.asOf;
  const found = await listMemberships(database.pool, { after: from, limit: pageSize });
  const last = found.length < pageSize ? undefined : found.at(-1);
  return {
    memberships: [...found],
    as_of,
    after: last === undefined ? null : [as_of, last.org_id, last.user_id].join(" "),
  };
}

function placeOf(after: string): { asOf: number; orgId: string; userId: string } {
  const { data } = place.safeParse(after.split(" "));
  if (data === undefined) throw new ServiceError("invalid_request", "after: not the end of a page");
  const [asOf, orgId, userId] = data;
  return { asOf, orgId, userId };
}
