import { type Call, nameText, uuidText } from "@coffer/http";
import { transactionInSession } from "../access/lasting-session.ts";
import { z } from "zod";
import type { User } from "../callers/user.ts";
import type { Deps } from "../deps.ts";
import { entryText, userActor } from "@coffer/service";
import type { OrgRow } from "../store/organizations/orgs.ts";
import { foundOrg } from "./found.ts";

export const newOrg = z.object({ id: uuidText.optional(), name: nameText(), entry: entryText.optional() });

/** POST /api/orgs */
export function createOrg(
  deps: Deps,
  { caller, body, request }: Call<User, unknown, z.infer<typeof newOrg>>,
): Promise<OrgRow> {
  const { userId } = caller;
  const { id, name, entry } = body;
  return transactionInSession(deps, caller, (tx) =>
    foundOrg(tx, deps, { id, name, entry, userId, actor: userActor(caller), request }),
  );
}
