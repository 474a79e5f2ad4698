import { ServiceError } from "@coffer/errors";
import type { memberships } from "@coffer/events";
import { z } from "zod";
import type { Deps } from "../deps.ts";
import { listMemberships } from "../store/organizations/members.ts";
import { awaitMembershipVersions } from "../store/organizations/membership-versions.ts";

type Page = z.infer<typeof memberships.output>;

/** A page with the longest names and e-mails stays below the size limit of the bus. */
const pageSize = 300;

/** The end of a page: the first page's `as_of`, the organization and the person. */
const pageEnd = z.tuple([z.coerce.number().int().nonnegative(), z.uuid(), z.uuid()]);

/**
 * One page of all memberships. `as_of` is determined before the first page is read: a membership
 * with a version up to it that is on no page has ended.
 * @throws ServiceError `invalid_request` for an `after` that no page returned
 */
export async function listAllMemberships({ database }: Pick<Deps, "database">, after: string | null): Promise<Page> {
  const from = after === null ? null : pageEndOf(after);
  const as_of = from === null ? await database.transaction(awaitMembershipVersions) : from.asOf;
  const found = await listMemberships(database.pool, { after: from, limit: pageSize });
  const last = found.length < pageSize ? undefined : found.at(-1);
  return {
    memberships: [...found],
    as_of,
    after: last === undefined ? null : [as_of, last.org_id, last.user_id].join(" "),
  };
}

function pageEndOf(after: string): { asOf: number; orgId: string; userId: string } {
  const { data } = pageEnd.safeParse(after.split(" "));
  if (data === undefined) throw new ServiceError("invalid_request", "after: not the end of a page");
  const [asOf, orgId, userId] = data;
  return { asOf, orgId, userId };
}
