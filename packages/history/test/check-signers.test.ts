import { checkSigners, countsNow, cutName, makeInvitation, openInvitation, sign } from "@coffer/history";
import type { HistoryState, Resource } from "@coffer/history";
import t from "tap";
import { found, holder, newActor, newUuid, signAs } from "./people.ts";

const orgId = newUuid();
const org: Resource = `org:${orgId}`;
const folder: Resource = `folder:${newUuid()}`;

/** An organization of two managers, and a folder whose entries 1 and 2 Bob has signed. */
async function setUp() {
  const [alice, bob] = [await newActor(), await newActor()];
  const members = await found(org, alice, orgId, [holder(bob, "manage", org)]);
  const entries = [await found(folder, alice, orgId, [holder(bob, "manage", folder)])];
  for (const name of ["one", "two"]) entries.push(await signAs(last(entries).state, folder, bob, { name }));
  const hashAt = (seq: number) => Promise.resolve(entries[seq]?.state.head.hash);
  return { alice, bob, members, entries, hashAt };
}

function last<T>(list: readonly T[]): T {
  return list.at(-1) as T; // every caller has put something in
}

void t.test("members of the organization count", async (t) => {
  const { members, entries, hashAt } = await setUp();
  await t.resolves(checkSigners(members.state, last(entries).state, null, hashAt));
});

void t.test("a former member counts up to the cut", async (t) => {
  const { alice, bob, members, entries, hashAt } = await setUp();
  const cutAt = async (seq: number, hash = entries[seq]?.state.head.hash ?? ""): Promise<HistoryState> => {
    const cut = { [await cutName(folder)]: [seq, hash] as [number, string] };
    return (await signAs(members.state, org, alice, { drop: [bob.who], cut })).state;
  };
  const { state } = last(entries);
  await t.resolves(checkSigners(await cutAt(2), state, null, hashAt));
  const byAlice = await signAs(state, folder, alice, { name: "three" });
  await t.resolves(checkSigners(await cutAt(2), byAlice.state, null, hashAt), "and others after it");
  await t.rejects(checkSigners(await cutAt(1), state, null, hashAt), { code: "signer_removed", seq: 2 });
  await t.rejects(
    checkSigners(await cutAt(1), state, state.head, hashAt),
    { code: "signer_removed" },
    "whatever is pinned",
  );
  await t.rejects(checkSigners(await cutAt(2, "ab".repeat(32)), state, null, hashAt), { code: "history_forked" });
  await t.rejects(checkSigners(await cutAt(3, "ab".repeat(32)), state, null, hashAt), { code: "history_rolled_back" });
});

void t.test("without a cut a former member counts up to what was trusted before", async (t) => {
  const { alice, bob, members, entries, hashAt } = await setUp();
  const { state: without } = await signAs(members.state, org, alice, { drop: [bob.who] });
  const { state } = last(entries);
  await t.rejects(checkSigners(without, state, null, hashAt), { code: "signer_removed" });
  await t.rejects(checkSigners(without, state, entries[1]?.state.head ?? null, hashAt), { code: "signer_removed" });
  await t.resolves(checkSigners(without, state, state.head, hashAt));
});

void t.test("a person with another key, and a stranger, do not count", async (t) => {
  const { alice, bob, members, entries, hashAt } = await setUp();
  const renewed = { ...(await newActor()), who: bob.who, email: bob.email };
  const { state: changed } = await signAs(members.state, org, alice, { set: [holder(renewed, "manage", org)] });
  await t.rejects(checkSigners(changed, last(entries).state, null, hashAt), { code: "signer_removed" });
  const { state: alone } = await found(org, alice, orgId);
  await t.rejects(checkSigners(alone, last(entries).state, null, hashAt), { code: "signer_removed" });
});

void t.test("a person who came back counts after another manager has set that person again", async (t) => {
  const { alice, bob, members, entries, hashAt } = await setUp();
  const { state, state: before } = last(entries);
  const cut = { [await cutName(folder)]: [2, state.head.hash] as [number, string] };
  const without = await signAs(members.state, org, alice, { drop: [bob.who], cut });
  const back = (await signAs(without.state, org, alice, { set: [holder(bob, "read", org)] })).state;
  await t.resolves(checkSigners(back, before, null, hashAt), "what was signed up to the cut counts");
  const byBob = await signAs(before, folder, bob, { name: "after the cut" });
  await t.rejects(checkSigners(back, byBob.state, null, hashAt), { code: "signer_removed", seq: 3 });
  const bySelf = await signAs(before, folder, bob, { set: [holder(bob, "manage", folder)] });
  await t.rejects(checkSigners(back, bySelf.state, null, hashAt), { code: "signer_removed" }, "set by himself");
  const next = await signAs(bySelf.state, folder, bob, { name: "after it" });
  await t.rejects(checkSigners(back, next.state, null, hashAt), { code: "signer_removed" }, "and signs on");
  const afterwards = await signAs(byBob.state, folder, alice, { set: [holder(bob, "manage", folder)] });
  await t.rejects(
    checkSigners(back, afterwards.state, null, hashAt),
    { code: "signer_removed" },
    "not for what was before",
  );
  const fork = await signAs(entries[1]?.state ?? null, folder, bob, { name: "another two" });
  const forkAt = (seq: number) => (seq === 2 ? Promise.resolve(fork.state.head.hash) : hashAt(seq));
  await t.rejects(checkSigners(back, fork.state, null, forkAt), { code: "history_forked" });
  const since = before.set_at[bob.who] ?? 0;
  t.notOk(await countsNow(back, folder, { who: bob.who, key: bob.publicKey, since }));

  const again = await signAs(before, folder, alice, { set: [holder(bob, "manage", folder)] });
  const signed = await signAs(again.state, folder, bob, { name: "as a manager again" });
  const shown = [...entries, again, signed];
  const at = (seq: number) => Promise.resolve(shown[seq]?.state.head.hash);
  await t.resolves(checkSigners(back, signed.state, null, at));
  t.ok(await countsNow(back, folder, { who: bob.who, key: bob.publicKey, since: signed.state.set_at[bob.who] ?? 0 }));
  await t.rejects(checkSigners(without.state, signed.state, null, at), { code: "signer_removed" }, "while removed");
});

void t.test("a cut that was wrong is stated again", async (t) => {
  const { alice, bob, members, entries, hashAt } = await setUp();
  const { state } = last(entries);
  const cutAt = async (seq: number, hash: string) => ({ [await cutName(folder)]: [seq, hash] as [number, string] });
  const wrong = await signAs(members.state, org, alice, {
    drop: [bob.who],
    cut: await cutAt(1_000_000, "0".repeat(64)),
  });
  await t.rejects(checkSigners(wrong.state, state, state.head, hashAt), { code: "history_rolled_back" });
  const right = await signAs(wrong.state, org, alice, { drop: [bob.who], cut: await cutAt(2, state.head.hash) });
  await t.resolves(checkSigners(right.state, state, null, hashAt));
});

void t.test("a second removal keeps the cut of the first where it names none", async (t) => {
  const { alice, bob, members, entries, hashAt } = await setUp();
  const { state } = last(entries);
  const cut = { [await cutName(folder)]: [2, state.head.hash] as [number, string] };
  const without = await signAs(members.state, org, alice, { drop: [bob.who], cut });
  const back = await signAs(without.state, org, alice, { set: [holder(bob, "read", org)] });
  const again = await signAs(back.state, org, alice, { drop: [bob.who], cut: {} });
  await t.resolves(checkSigners(again.state, state, null, hashAt));
});

void t.test("a join counts on the person who invited", async (t) => {
  const { alice, bob, members, entries, hashAt } = await setUp();
  const [machine, tag, wrapKey] = [await newActor("client"), "cd".repeat(32), new Uint8Array(32)];
  const before = last(entries).state;
  const request = { tag, wrapKey, kind: "client", perm: "read" } as const;
  const invited = await signAs(before, folder, bob, { invite: [await makeInvitation(before, folder, request)] });
  const cut = { [await cutName(folder)]: [3, invited.state.head.hash] as [number, string] };
  const { state: without } = await signAs(members.state, org, alice, { drop: [bob.who], cut });
  const key = await openInvitation(invited.state.res, invited.state.invitations[0], wrapKey);
  const joined = await sign(invited.state, folder, `invite:${tag}`, key, { set: [holder(machine, "read", folder)] });
  const at = (seq: number) => (seq === 3 ? Promise.resolve(invited.state.head.hash) : hashAt(seq));
  await t.resolves(checkSigners(without, invited.state, null, at));
  await t.rejects(checkSigners(without, joined.state, null, at), { code: "signer_removed", seq: 4 });
});

void t.test("the history of another organization's folder", async (t) => {
  const { alice, entries, hashAt } = await setUp();
  const { state: other } = await found(`org:${newUuid()}`, alice);
  await t.rejects(checkSigners(other, last(entries).state, null, hashAt), { code: "history_invalid" });
});
