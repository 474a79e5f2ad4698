import { CofferError } from "@coffer/sdk";
import type { MemberView } from "@coffer/sdk";
import t from "tap";
import { peopleView } from "../src/worker/organization/people.ts";
import type { Workspace } from "../src/worker/workspace.ts";

const [alice, bob, carol] = ["a", "b", "c"].map((digit) => `0000000${digit}-0000-7000-8000-000000000000`) as [
  string,
  string,
  string,
];
const listed = (id: string, email: string): Partial<MemberView> => ({
  ...{ user_id: id, email, name: "", role: "member", status: "active" },
});
const named = (id: string, email: string): { user_id: string; email: string } => ({ user_id: id, email });

const organization = (id: string, name: string, role = "owner"): object => ({ id, name, role, status: "active" });

/** The screen when the service lists these members and organizations, and the history names those members. */
function viewOf(
  members: readonly object[],
  history: readonly object[] | CofferError,
  organizations = [organization("o", "Example")],
) {
  const known = <T>(value: T): Promise<T> =>
    history instanceof CofferError ? Promise.reject(history) : Promise.resolve(value);
  const client = {
    account: () => Promise.resolve({ organizations }),
    organizations: { own: () => known({ id: "o", name: "Example" }) },
    invites: { list: () => Promise.resolve([]) },
    members: {
      list: () => Promise.resolve(members),
      confirmed: () => known(history),
    },
  };
  return peopleView({ client } as unknown as Workspace);
}

async function shown(members: readonly object[], history: readonly object[] | CofferError) {
  const view = await viewOf(members, history);
  return view.members.map(({ id, email, problem }) => ({ id, email, problem }));
}

await t.test("an e-mail belongs to the person that the history names, whatever the service lists", async (t) => {
  const history = [named(alice, "alice@example.com"), named(bob, "bob@example.com"), named(carol, "carol@example.com")];
  const swapped = [
    listed(alice, "alice@example.com"),
    listed(bob, "carol@example.com"),
    listed(carol, "bob@example.com"),
  ];
  t.same(await shown(swapped, history), [
    { id: alice, email: "alice@example.com", problem: null },
    { id: bob, email: "bob@example.com", problem: null },
    { id: carol, email: "carol@example.com", problem: null },
  ]);
});

await t.test(
  "a member that the history does not name is marked, and one that the service hides is shown",
  async (t) => {
    const history = [named(alice, "alice@example.com"), named(bob, "bob@example.com")];
    t.same(await shown([listed(alice, "alice@example.com"), listed(carol, "bob@example.com")], history), [
      { id: alice, email: "alice@example.com", problem: null },
      { id: carol, email: "bob@example.com", problem: "unconfirmed" },
      { id: bob, email: "bob@example.com", problem: "ended" },
    ]);
  },
);

await t.test("without a known history nothing can be signed, and the service's list is shown", async (t) => {
  for (const code of ["no_history", "not_accepted"] as const)
    t.same(await shown([listed(bob, "bob@example.com")], new CofferError(code, "unknown")), [
      { id: bob, email: "bob@example.com", problem: null },
    ]);
  await t.rejects(shown([], new CofferError("history_forked", "another")), { code: "history_forked" });
});

await t.test("the screen names the organization that this device signs for", async (t) => {
  const others = [organization("other", "Book Club", "admin"), organization("o", "whatever", "member")];
  t.match(await viewOf([], [], others), { organization: "Example", mayManage: false });
  t.match(await viewOf([], [], others.slice(0, 1)), { organization: null });
  t.match(await viewOf([], new CofferError("no_history", "unknown"), others), { organization: "Book Club" });
  t.match(await viewOf([], new CofferError("not_found", "none"), []), { organization: null });
});
