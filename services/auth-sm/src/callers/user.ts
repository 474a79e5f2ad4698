import type { Authenticate } from "@coffer/http";
import type { User } from "@coffer/service";
import { identifyUser } from "@coffer/service";
import type { Deps } from "../deps.ts";
import { sessionLasts } from "../store/sessions.ts";

export type { User } from "@coffer/service";

/** Finds out which person calls. Whether the session lasts is asked of Postgres, which is the truth about it. */
export const authenticateUser: Authenticate<User, Deps> = (input, { authFailures, database, now, verifyUser }) =>
  identifyUser(
    {
      verifyUser,
      authFailures,
      hasEnded: async (session) => !(await sessionLasts(database, session, now())),
    },
    input,
  );
