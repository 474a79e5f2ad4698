import { type Audit, wasDone } from "../audit.ts";
import { ask, demand } from "../caller.ts";
import { type Member, type Session, tokensOf } from "./member.ts";
import { accountOf, refreshOf } from "./worker.ts";

/**
 * The faults of the member's sessions. A logged-out one has ended, any other is active, and the active
 * ones are those that the audit has as begun and not ended.
 */
export async function sessionProblems(url: string, member: Member, audit: Audit): Promise<string[]> {
  const problems: string[] = [];
  for (const session of member.sessions) {
    const isOver = session.logout !== null && wasDone(session.logout, audit);
    const found = isOver ? await overProblem(url, session) : await openProblem(url, session);
    if (found !== null)
      problems.push(`session ${session.id}, ${isOver ? "which was logged out" : "which is open"}, ${found}`);
  }
  const expected = openSessions(member, audit);
  const listed = await listedSessions(url, member);
  const differing = [...expected, ...listed].filter((id) => expected.has(id) !== listed.has(id));
  return [...problems, ...differing.map((id) => `session ${id} is ${listed.has(id) ? "" : "not "}among the open ones`)];
}

async function overProblem(url: string, { tokens }: Session): Promise<string | null> {
  for (const question of [accountOf(tokens), refreshOf(tokens)]) {
    const { status } = await ask(url, question);
    if (status !== 401) return `is answered ${status} by ${question.path}`;
  }
  return null;
}

async function openProblem(url: string, { tokens, isRefreshInDoubt }: Session): Promise<string | null> {
  const account = await ask(url, accountOf(tokens));
  if (account.status !== 200) return `is answered ${account.status} by its access token`;
  if (isRefreshInDoubt) return null;
  const refreshed = await ask(url, refreshOf(tokens));
  if (refreshed.status !== 200) return `is answered ${refreshed.status} by its refresh token`;
  const { status } = await ask(url, accountOf(tokensOf(refreshed)));
  return status === 200 ? null : `is answered ${status} by its new access token`;
}

/** The open sessions by the audit. */
function openSessions({ userId, first }: Member, { records }: Audit): Set<string> {
  const targets = (action: string) =>
    records
      .filter((record) => record.action === action && record.outcome === "success" && record.actor.id === userId)
      .map(({ target }) => String(target.id));
  const over = new Set(targets("user.logout"));
  return new Set([first.id, ...targets("user.login.succeeded")].filter((id) => !over.has(id)));
}

async function listedSessions(url: string, { first }: Member): Promise<Set<string>> {
  const { access } = tokensOf({ body: await demand(url, refreshOf({ access: first.access, refresh: first.refresh })) });
  const { data } = await demand(url, { method: "GET", path: "/api/auth/sessions", bearer: access });
  return new Set((data as { id: string }[]).map(({ id }) => id)); // as the interface describes it
}
