import {
  ada,
  asJson,
  begin,
  bob,
  type Chain,
  checkOf,
  eve,
  folder,
  grow,
  holder,
  invitation,
  joinPair,
  machine,
  ofLength,
  org,
  resourceKey,
  sha256,
  tokenOf,
  vault,
  version,
} from "./history-chain.ts";
import { refusedEntries } from "./history-refused.ts";
import { signerVectors } from "./history-signers.ts";
import { bytes, flip } from "./material.ts";
import type { HistoryFile, HistoryVector } from "./shapes.ts";
import { encode, malleated } from "./signed-tokens.ts";

function valid(name: string, chain: Chain, change: Partial<HistoryVector> = {}): HistoryVector {
  const { res, entries, state } = chain;
  const given = { name, error: null, seq: null, res, entries, organization: null, pin: null, key: null, state };
  return { ...given, ...change };
}

/** The last entry as another text of the same claims: the chain uses the hash without the signature. */
function asText({ res, entries, state }: Chain, change: (entry: string) => string): Chain {
  return { res, entries: [...entries.slice(0, -1), change(entries.at(-1) ?? "")], state };
}

function malleatedEntry(entry: string): string {
  const [header = "", payload = "", signature = ""] = entry.split(".");
  return `${header}.${payload}.${encode(malleated(Buffer.from(signature, "base64url")))}`;
}

function validHistories(): HistoryVector[] {
  const token = tokenOf(bytes("seed", 32), "ott");
  const first = begin(folder, ada);
  const shared = grow(first, folder, ada, { set: [holder(bob, "write")] });
  const invited = grow(shared, folder, ada, { invite: [invitation(shared, token)] });
  const byInvitation = { by: `invite:${token.tag}`, pair: joinPair };
  const joined = grow(invited, folder, byInvitation, { set: [holder(machine, "read")] });
  const rotated = grow(joined, folder, ada, { drop: [bob.who], ...version(folder, 2) });
  const managed = grow(first, folder, ada, { set: [holder(bob, "manage")] });
  const bobs = grow(managed, folder, bob, { invite: [invitation(managed, token)] });
  const members = begin(org, ada, [holder(bob, "read", org)]);
  const begun = grow(members, org, ada, { drop: [bob.who], cut: { [sha256(folder)]: [4, rotated.state.head.hash] } });
  const vaults = begin(vault, ada, [holder(bob, "manage", vault)]);
  const renamed = { name: "é🔑/x" };
  return [
    valid("entry 0 of a folder", first),
    valid("a person is set", shared),
    valid("a machine is invited", invited),
    valid("the machine joins, which closes the invitation", joined),
    valid("a person is dropped, with the next key", rotated),
    valid("the key of the newest version", rotated, { key: resourceKey(2).toString("hex") }),
    valid(
      "a holder is set again with another key",
      grow(shared, folder, ada, { set: [{ ...holder(bob, "write"), key: eve.key }] }),
    ),
    valid("a manager hands over and steps down", grow(managed, folder, bob, { set: [holder(ada, "read")] })),
    valid("an invitation is dropped, without a new key", grow(invited, folder, ada, { drop: [`invite:${token.tag}`] })),
    valid(
      "the maker of an invitation loses manage, which closes it",
      grow(bobs, folder, ada, { set: [holder(bob, "write")] }),
    ),
    valid(
      "the maker of an invitation is dropped, which closes it",
      grow(bobs, folder, ada, { drop: [bob.who], ...version(folder, 2) }),
    ),
    valid(
      "one entry drops, sets, renames and rotates",
      grow(shared, folder, ada, {
        name: "staging",
        drop: [bob.who],
        set: [holder(eve, "read")],
        ...version(folder, 2),
      }),
    ),
    valid(
      "entry 0 of an adopted folder, whose key has version 7",
      grow(null, folder, ada, {
        org: first.state.org ?? "",
        name: "production",
        set: [holder(ada, "manage")],
        ...version(folder, 7),
      }),
    ),
    valid("entry 0 of a vault", vaults),
    valid("a member leaves a vault", grow(vaults, vault, bob, { drop: [bob.who], ...version(vault, 2) })),
    valid("entry 0 of an organization", members),
    valid(
      "a person is invited into an organization",
      grow(members, org, ada, { invite: [invitation(members, tokenOf(bytes("invite seed", 32), "invite"))] }),
    ),
    valid("a person is dropped from an organization with a cut", begun),
    valid(
      "a later entry adds to the cut",
      grow(grow(begun, org, ada, { name: "b" }), org, ada, {
        drop: [bob.who],
        cut: { [sha256(vault)]: [0, vaults.state.head.hash] },
      }),
    ),
    valid(
      "a later entry states the cut again",
      grow(begun, org, ada, { drop: [bob.who], cut: { [sha256(folder)]: [0, first.state.head.hash] } }),
    ),
    valid(
      "a person who was dropped is set, and dropped once more",
      grow(grow(begun, org, ada, { set: [holder(bob, "read", org)] }), org, ada, {
        drop: [bob.who],
        cut: { [sha256(vault)]: [0, vaults.state.head.hash] },
      }),
    ),
    valid("a manager is set by another manager", grow(managed, folder, ada, { set: [holder(bob, "manage")] })),
    valid("a manager sets itself", grow(managed, folder, bob, { set: [holder(bob, "manage")] })),
    valid("a name of 128 characters outside the basic plane", grow(first, folder, ada, { name: "🔑".repeat(128) })),
    valid("a name outside ASCII", grow(first, folder, ada, renamed)),
    valid("an entry of exactly 65536 characters", ofLength(first, 65_536)),
    valid(
      "claims in another order",
      asJson(first, renamed, (json) =>
        JSON.stringify(Object.fromEntries(Object.entries(JSON.parse(json) as object).reverse())),
      ),
    ),
    valid(
      "white space in the JSON",
      asJson(first, renamed, (json) => JSON.stringify(JSON.parse(json), null, 2)),
    ),
    valid(
      "escapes in the JSON",
      asJson(first, renamed, (json) => json.replace('"name"', '"n\\u0061me"').replace("é", "\\u00e9")),
    ),
    valid(
      "a number with a fraction of zero is that number",
      asJson(first, renamed, (json) => json.replace('"seq":1', '"seq":1.0')),
    ),
    valid("the second form of the signature: the same entry, the same hash", asText(shared, malleatedEntry)),
    valid("the second form of an earlier signature", {
      ...shared,
      entries: [malleatedEntry(first.entries[0] ?? ""), ...shared.entries.slice(1)],
    }),
  ];
}

function keyVectors(): HistoryVector[] {
  const first = begin(folder, ada);
  const rotated = grow(first, folder, ada, version(folder, 2));
  const wrong = (name: string, chain: Chain, key: Buffer): HistoryVector =>
    valid(name, chain, { error: "key_mismatch", key: key.toString("hex") });
  return [
    wrong("another key", first, flip(resourceKey(1), 0)),
    wrong("the key of the version before", rotated, resourceKey(1)),
    wrong(
      "a check that was made for another folder",
      {
        ...grow(null, folder, ada, {
          org: first.state.org ?? "",
          name: "production",
          set: [holder(ada, "manage")],
          ver: 1,
          check: checkOf(resourceKey(1), vault, 1),
        }),
      },
      resourceKey(1),
    ),
    wrong(
      "a check that was made for another version",
      grow(first, folder, ada, { ver: 2, check: checkOf(resourceKey(2), folder, 1) }),
      resourceKey(2),
    ),
  ];
}

/** A client with an earlier pin of this history. */
function pinVectors(): HistoryVector[] {
  const first = begin(folder, ada);
  const second = grow(first, folder, ada, { name: "a" });
  const other = grow(first, folder, ada, { name: "b" });
  return [
    valid("a history that goes on from the pin", second, { pin: first.state.head }),
    valid("a history that ends with the pin", second, { pin: second.state.head }),
    valid("a history that ends before the pin", first, { error: "history_rolled_back", pin: second.state.head }),
    valid("a fork after the pin's predecessor", other, { error: "history_forked", pin: second.state.head }),
    valid("a longer fork", grow(other, folder, ada, { name: "c" }), {
      error: "history_forked",
      pin: second.state.head,
    }),
    valid(
      "no history at all, where one was pinned",
      { ...first, entries: [] },
      { error: "history_rolled_back", pin: first.state.head },
    ),
  ].map((vector) => (vector.error === null ? vector : { ...vector, state: null }));
}

/** Histories that a reader must accept, with their state, and histories that it must refuse. */
export function historyVectors(): HistoryFile {
  const keys = [1, 2].flatMap((ver) => [folder, vault].map((res) => ({ key: resourceKey(ver, res), res, ver })));
  return {
    about: "Histories: compact JWS entries from number 0, and the state after the newest; `seq` is the entry to refuse",
    cut_names: [folder, vault].map((res) => ({ res, name: sha256(res) })),
    key_checks: keys.map(({ key, res, ver }) => ({
      key: key.toString("hex"),
      res,
      ver,
      check: checkOf(key, res, ver),
    })),
    vectors: [...validHistories(), ...refusedEntries(), ...signerVectors(), ...keyVectors(), ...pinVectors()],
  };
}
