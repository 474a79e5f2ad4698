import type { PersonSession } from "@coffer/sdk";
import t from "tap";
import { settlingKeeper } from "../src/worker/session/settling-keeper.ts";

const session = (token: string): PersonSession => ({ access_token: token }) as unknown as PersonSession; // all that is read

void t.test("a session settles with the tokens of the renewal that was under way", async (t) => {
  const keeper = settlingKeeper(session("first"));
  t.same(await keeper.settled(), session("first"));
  const answer = Promise.withResolvers<PersonSession>();
  const renewing = keeper.renew("first", () => answer.promise);
  t.same(await keeper.current(), session("first"));
  const settled = keeper.settled();
  answer.resolve(session("second"));
  t.same(await settled, session("second"));
  t.same(await renewing, session("second"));
});

void t.test("what another worker has stored is renewed again before a new password's tokens", async (t) => {
  let other: PersonSession | null = session("other");
  const keeper = settlingKeeper(session("first"), async (current, refresh) => {
    const stored = other ?? (await refresh(current));
    other = null;
    return stored;
  });
  const changed = () => Promise.resolve(session("changed"));
  t.same(await keeper.renew("first", changed), session("other"));
  t.same(await keeper.renew("other", changed), session("changed"));
});

void t.test("it settles as it was when the renewal fails", async (t) => {
  const keeper = settlingKeeper(session("first"));
  const renewing = keeper.renew("first", () => Promise.reject(new Error("away")));
  t.same(await keeper.settled(), session("first"));
  await t.rejects(renewing, /away/);
});
