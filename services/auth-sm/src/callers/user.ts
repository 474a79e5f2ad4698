import type { Authenticate } from "@coffer/http";
import { identifyUser, type User } from "@coffer/service";
import type { Deps } from "../deps.ts";
import { sessionLasts } from "../store/accounts/sessions.ts";

export type { User } from "@coffer/service";

/** Identifies the calling person. Postgres decides whether the session is still active. */
export const authenticateUser: Authenticate<User, Deps> = (input, { authFailures, database, now, verifyUser }) =>
  identifyUser(
    {
      verifyUser,
      authFailures,
      hasEnded: async (session) => !(await sessionLasts(database, session, now())),
    },
    input,
  );
