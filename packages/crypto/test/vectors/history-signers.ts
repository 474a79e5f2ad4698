import {
  ada,
  begin,
  bob,
  type Chain,
  folder,
  grow,
  holder,
  invitation,
  joinPair,
  machine,
  nextEntry,
  org,
  sha256,
  tokenOf,
  version,
} from "./history-chain.ts";
import { bytes, uuid } from "./material.ts";
import type { HistoryVector, VectorHead } from "./shapes.ts";

/** The folder: Ada made it, Bob manages it and signed entries 1 and 2. */
function managedByBoth(): Chain[] {
  const first = begin(folder, ada, [holder(bob, "manage")]);
  const second = grow(first, folder, bob, { name: "one" });
  return [first, second, grow(second, folder, bob, { name: "two" })];
}

function vector(
  name: string,
  { res, entries, state }: Chain,
  organization: readonly string[],
  wrong: Pick<HistoryVector, "error" | "seq"> & { pin?: VectorHead } = { error: null, seq: null },
): HistoryVector {
  const { pin = null, error, seq } = wrong;
  const given = { name, error, seq, res, entries, organization: [...organization], pin, key: null };
  return { ...given, state: error === null ? state : null };
}

/** A folder's signers, compared with the history of the organization. */
export function signerVectors(): HistoryVector[] {
  const [first, second, third] = managedByBoth() as [Chain, Chain, Chain]; // it makes three
  const members = begin(org, ada, [holder(bob, "manage", org)]);
  const cutAt = (seq: number, { hash } = third.state.head): string[] =>
    grow(members, org, ada, { drop: [bob.who], cut: { [sha256(folder)]: [seq, hash] } }).entries;
  const uncut = grow(members, org, ada, { drop: [bob.who] }).entries;
  const otherCut = grow(members, org, ada, {
    drop: [bob.who],
    cut: { [sha256(`folder:${uuid("another")}`)]: [9, sha256("")] },
  });
  const byAda = grow(third, folder, ada, { name: "three" });
  const byBob = grow(third, folder, bob, { name: "three" });
  const renewed = { ...holder(bob, "manage", org), key: holder(machine, "read").key };
  const back = grow(
    {
      res: org,
      entries: cutAt(2),
      state: grow(members, org, ada, { drop: [bob.who], cut: { [sha256(folder)]: [2, third.state.head.hash] } }).state,
    },
    org,
    ada,
    { set: [holder(bob, "manage", org)] },
  );
  const again = grow(third, folder, ada, { set: [holder(bob, "manage")] });
  const afterSet = grow(again, folder, bob, { name: "again a manager" });
  const late = grow(byBob, folder, ada, { set: [holder(bob, "manage")] });
  const bySelf = grow(third, folder, bob, { set: [holder(bob, "manage")] });
  const token = tokenOf(bytes("seed", 32), "ott");
  const invited = grow(third, folder, bob, { invite: [invitation(third, token)] });
  const joined = grow(
    invited,
    folder,
    { by: `invite:${token.tag}`, pair: joinPair },
    { set: [holder(machine, "read")] },
  );
  const others = grow(null, org, ada, { name: "Example", set: [{ ...holder(ada, "manage", org) }] });
  const removed = (seq: number, pin?: VectorHead) =>
    ({ error: "signer_removed", seq, ...(pin === undefined ? {} : { pin }) }) as const;
  const elsewhere = `org:${uuid("another organization")}`;
  const foreign = nextEntry(null, elsewhere, ada, { name: "Other", set: [holder(ada, "manage", org)] });
  return [
    vector("both signers are in the organization", third, members.entries),
    vector("a former member counts up to the cut", third, cutAt(2)),
    vector("others sign on after the cut", byAda, cutAt(2)),
    vector("a former member signs after the cut", byBob, cutAt(2), removed(3)),
    vector("the cut is before the last entry of the former member", third, cutAt(1, second.state.head), removed(2)),
    vector("a pin does not extend a cut", third, cutAt(1, second.state.head), removed(2, third.state.head)),
    vector("the cut has another hash", third, cutAt(2, second.state.head), { error: "history_forked", seq: 2 }),
    vector("the cut is beyond the newest entry", third, cutAt(3, byAda.state.head), {
      error: "history_rolled_back",
      seq: 3,
    }),
    vector("no cut and no pin", third, uncut, removed(2)),
    vector("a cut of other histories alone, and no pin", third, otherCut.entries, removed(2)),
    vector("no cut, and a pin before the last entry of the former member", third, uncut, removed(2, second.state.head)),
    { ...vector("no cut, and a pin at the last entry of the former member", third, uncut), pin: third.state.head },
    { ...vector("no cut, and others sign on after the pin", byAda, uncut), pin: third.state.head },
    vector("a member has another key now", third, grow(members, org, ada, { set: [renewed] }).entries, removed(2)),
    vector("a former member is back with the same key, and signed up to the cut", third, back.entries),
    vector("a former member is back, and no other manager has set the person since", byBob, back.entries, removed(3)),
    vector("a former member is back and sets itself", bySelf, back.entries, removed(3)),
    vector(
      "a former member is back, set itself, and signs",
      grow(bySelf, folder, bob, { name: "three" }),
      back.entries,
      removed(3),
    ),
    vector("a former member is back, and was set again only after signing", late, back.entries, removed(3)),
    vector("a former member is back, was set again, and signs", afterSet, back.entries),
    vector("a former member was set again, and is not back", afterSet, cutAt(2), removed(4)),
    vector("a signer was never in the organization", third, others.entries, removed(2)),
    vector("a join counts on the person who invited, up to the cut", invited, cutAt(3, invited.state.head)),
    vector("a join after the cut of the person who invited", joined, cutAt(3, invited.state.head), removed(4)),
    vector(
      "a former member whose entries others have followed",
      grow(byAda, folder, ada, { drop: [bob.who], ...version(folder, 2) }),
      cutAt(2),
    ),
    vector("the history of another organization", first, [foreign], { error: "history_invalid", seq: 0 }),
  ];
}
