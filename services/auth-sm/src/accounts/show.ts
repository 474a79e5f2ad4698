import type { Call } from "@coffer/http";
import type { User } from "../callers/user.ts";
import type { Deps } from "../deps.ts";
import { listUserOrgs, type UserOrgRow } from "../store/organizations/orgs.ts";
import { findTotpSecret } from "../store/accounts/totp.ts";
import { getUser } from "../store/accounts/users.ts";
import { userView, type UserView } from "./view.ts";

export interface AccountView {
  user: UserView;
  totp_enabled: boolean;
  organizations: readonly UserOrgRow[];
}

/** GET /api/account */
export async function showAccount(deps: Deps, { caller }: Call<User>): Promise<AccountView> {
  const { pool } = deps.database;
  const [user, totpSecret, organizations] = await Promise.all([
    getUser(pool, caller.userId),
    findTotpSecret(pool, caller.userId),
    listUserOrgs(pool, caller.userId),
  ]);
  return { user: userView(user), totp_enabled: totpSecret !== null, organizations };
}
