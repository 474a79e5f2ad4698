import {
  type Actor,
  ada,
  begin,
  bob,
  type Chain,
  type Change,
  claimsAfter,
  entryHeader,
  entryOf,
  eve,
  folder,
  grow,
  holder,
  invitation,
  joinPair,
  machine,
  nextEntry,
  ofLength,
  org,
  orgId,
  sha256,
  tokenOf,
  vault,
  version,
} from "./history-chain.ts";
import { bytes, flip, keyPair, spkiHeader, uuid } from "./material.ts";
import type { HistoryVector, VectorHolder } from "./shapes.ts";
import { encode, hmac, orderTwice, overhang, signature } from "./signed-tokens.ts";

/** A valid history with an invalid next entry. Without a history it is entry 0. */
function refused(name: string, before: Chain | null, entry: string, res = before?.res ?? folder): HistoryVector {
  const entries = [...(before?.entries ?? []), entry];
  const place = { error: "history_invalid", seq: entries.length - 1, res, entries } as const;
  return { name, ...place, organization: null, pin: null, key: null, state: null };
}

const token = tokenOf(bytes("seed", 32), "ott");
const first = begin(folder, ada);
const second = grow(first, folder, ada, { name: "a" });
const shared = grow(first, folder, ada, { set: [holder(bob, "write")] });
const members = begin(org, ada, [holder(bob, "read", org)]);
const vaults = begin(vault, ada, [holder(bob, "manage", vault)]);
const invited = grow(first, folder, ada, { invite: [invitation(first, token)] });

/** Entry 1 of the folder in other JSON; Ada signs it. */
function written(name: string, write: (json: string) => string, change: Change = { name: "a" }): HistoryVector {
  return refused(name, first, entryOf(write(JSON.stringify(claimsAfter(first, folder, ada.who, change))), ada.pair));
}

function withMembers(name: string, members: object): HistoryVector {
  const claims = claimsAfter(first, folder, ada.who, { name: "a" });
  return refused(name, first, entryOf({ ...claims, ...members }, ada.pair));
}

function withKey(name: string, key: string): HistoryVector {
  return withMembers(name, { set: [{ ...holder(bob, "read"), key }] });
}

/** Size, encoding, header and signature, as text. */
function malformedTexts(): HistoryVector[] {
  const [head = "", payload = "", sign = ""] = (second.entries[1] ?? "").split(".");
  const good = `${head}.${payload}.${sign}`;
  const compact = Buffer.from(sign, "base64url");
  const headed = (header: string): string =>
    entryOf(claimsAfter(first, folder, ada.who, { name: "a" }), ada.pair, header);
  const signedBy = (bytes: Buffer): string => `${head}.${payload}.${encode(bytes)}`;
  return [
    refused("nothing", first, ""),
    refused("two parts", first, `${head}.${payload}`),
    refused("four parts", first, `${good}.`),
    refused("an entry of 65537 characters", first, ofLength(first, 65_537).entries[1] ?? ""),
    refused("padding after the signature", first, `${good}==`),
    refused("padding after the payload", first, `${head}.${payload}=.${sign}`),
    refused("a line end after it", first, `${good}\n`),
    refused("a space in it", first, `${head}. ${payload}.${sign}`),
    refused("characters of base64", first, `${head}.${payload}.${"+/".repeat(43)}`),
    refused("set bits after the signature", first, `${head}.${payload}.${overhang(sign)}`),
    refused("another order in the header", first, headed('{"typ":"coffer-history+jwt","alg":"ES256"}')),
    refused("a further member of the header", first, headed('{"alg":"ES256","typ":"coffer-history+jwt","kid":"1"}')),
    refused("white space in the header", first, headed(entryHeader.replace(":", ": "))),
    refused("the header of a machine's token", first, headed('{"alg":"ES256","typ":"JWT"}')),
    refused("alg none", first, headed('{"alg":"none","typ":"coffer-history+jwt"}')),
    refused("a machine's token with an HMAC", first, hmac()),
    refused("a signature in DER", first, signedBy(signature(`${head}.${payload}`, ada.pair, "der"))),
    refused("an empty signature", first, `${head}.${payload}.`),
    refused("a signature of 63 bytes", first, signedBy(compact.subarray(0, 63))),
    refused("a signature of 65 bytes", first, signedBy(Buffer.concat([compact, Buffer.of(0)]))),
    refused("r and s are zero", first, signedBy(Buffer.alloc(64))),
    refused("r and s are the order of the curve", first, signedBy(orderTwice())),
    refused("a changed signature", first, signedBy(flip(compact, -1))),
    refused(
      "other claims under the same signature",
      first,
      `${head}.${encode(claimsAfter(first, folder, ada.who, { name: "b" }))}.${sign}`,
    ),
  ];
}

/** The members of the JSON payload, and their types. */
function malformedClaims(): HistoryVector[] {
  const notUtf8 = Buffer.concat([Buffer.from('{"res":"'), Buffer.of(0xff), Buffer.from('"}')]);
  const invite = invitation(first, token);
  return [
    written("claims that are no JSON", (json) => json.slice(1)),
    written("claims with something after them", (json) => `${json}{}`),
    written("claims after a byte order mark", (json) => `\ufeff${json}`),
    written("claims in a list", (json) => `[${json}]`),
    written("claims that are null", () => "null"),
    refused("claims that are not UTF-8", first, entryOf(notUtf8, ada.pair)),
    written("an unknown claim", (json) => json.replace("{", '{"iat":1800000000,')),
    written("an unknown claim __proto__", (json) => json.replace("{", '{"__proto__":{},')),
    written("a claim twice", (json) => json.replace("{", '{"name":"b",')),
    written("a claim twice with one value", (json) => json.replace("{", '{"name":"a",')),
    written("a claim twice, once escaped", (json) => json.replace("{", '{"n\\u0061me":"b",')),
    written("a member of a holder twice", (json) => json.replace('"perm":', '"perm":"manage","perm":'), {
      set: [holder(bob, "read")],
    }),
    ...["res", "seq", "prev", "by"].map((name) => withMembers(`no ${name}`, { [name]: undefined })),
    withMembers("res of another kind", { res: folder.replace("folder", "secret") }),
    withMembers("res in upper case", { res: folder.toUpperCase() }),
    withMembers("res in a list", { res: [folder] }),
    withMembers("seq as a string", { seq: "1" }),
    written("seq with a fraction", (json) => json.replace('"seq":1', '"seq":1.5')),
    withMembers("a negative seq", { seq: -1 }),
    withMembers("seq null", { seq: null }),
    withMembers("prev in upper case", { prev: first.state.head.hash.toUpperCase() }),
    withMembers("prev in base64url", { prev: Buffer.from(first.state.head.hash, "hex").toString("base64url") }),
    withMembers("by without its kind", { by: ada.who.slice("user:".length) }),
    withMembers("by a machine", { by: machine.who }),
    withMembers("name is empty", { name: "" }),
    withMembers("name null", { name: null }),
    withMembers("a name of 129 characters", { name: "n".repeat(129) }),
    withMembers("a name of 129 characters outside the basic plane", { name: "🔑".repeat(129) }),
    withMembers("a name with a control character", { name: "a\nb" }),
    withMembers("a name with a control character of C1", { name: "a\u0085b" }),
    written("a name with half of a surrogate pair", (json) => json.replace('"a"', '"\\ud800"')),
    withMembers("an empty set", { set: [] }),
    withMembers("set that is no list", { set: holder(bob, "read") }),
    withMembers("a holder with a further member", { set: [{ ...holder(bob, "read"), role: "admin" }] }),
    withMembers("a holder without a key", { set: [{ who: bob.who, perm: "read" }] }),
    withMembers("a permission that there is not", { set: [{ ...holder(bob, "read"), perm: "admin" }] }),
    withMembers("a holder of another kind", {
      set: [{ ...holder(bob, "read"), who: bob.who.replace("user", "group") }],
    }),
    withMembers("an empty drop", { drop: [] }),
    withMembers("a drop of what is no holder and no invitation", { drop: ["everybody"] }),
    withMembers("ver 0", { ...version(folder, 2), ver: 0 }),
    withMembers("ver as a string", { ...version(folder, 2), ver: "2" }),
    withMembers("check in upper case", { ver: 2, check: version(folder, 2).check.toUpperCase() }),
    withMembers("an invitation without its join key", { invite: [{ ...invite, join_key: undefined }] }),
    withMembers("an invitation with a permission that there is not", { invite: [{ ...invite, perm: "admin" }] }),
    withMembers("an invitation of another kind", { invite: [{ ...invite, kind: "group" }] }),
    withMembers("an invitation whose sealed is base64url", { invite: [{ ...invite, sealed: "-_-_" }] }),
    withMembers("an invitation whose sealed is empty", { invite: [{ ...invite, sealed: "" }] }),
    withMembers("an invitation whose tag is in upper case", { invite: [{ ...invite, tag: invite.tag.toUpperCase() }] }),
    ...malformedInOrganizations(),
    ...malformedKeys(),
  ];
}

function malformedInOrganizations(): HistoryVector[] {
  const sets = (name: string, email: string): HistoryVector => {
    const set = [{ ...holder(eve, "read", org), email }];
    return refused(name, members, nextEntry(members, org, ada, { set }));
  };
  const cuts = (name: string, cut: Change["cut"]): HistoryVector =>
    refused(name, members, nextEntry(members, org, ada, { drop: [bob.who], ...(cut === undefined ? {} : { cut }) }));
  return [
    sets("an e-mail in upper case", "Eve@example.com"),
    sets("an e-mail that is not in NFKC", "eve@ｅxample.com"),
    sets("an e-mail with a space after it", "eve@example.com "),
    sets("an e-mail of 255 characters", `${"e".repeat(243)}@example.com`),
    sets("an e-mail without an @", "eve"),
    cuts("a cut that names a history by its id", { [folder]: [0, first.state.head.hash] }),
    cuts("a cut with a negative number", { [sha256(folder)]: [-1, first.state.head.hash] }),
    cuts("a cut whose hash is in upper case", { [sha256(folder)]: [0, first.state.head.hash.toUpperCase()] }),
  ];
}

function malformedKeys(): HistoryVector[] {
  const { spki, point } = keyPair("bob");
  const compressed = Buffer.concat([Buffer.of(2 + ((point[64] ?? 0) & 1)), point.subarray(1, 33)]);
  const offCurve = Buffer.concat([spkiHeader, flip(point, -1)]).toString("base64");
  return [
    withKey("the bare point of a key", point.toString("base64")),
    withKey("a compressed point", compressed.toString("base64")),
    withKey("a key with a byte after its end", Buffer.concat([spki, Buffer.of(0)]).toString("base64")),
    withKey("a key in base64url", spki.toString("base64url")),
    withKey("a key that is not on the curve", offCurve),
    withKey("an empty key", ""),
    withMembers("a join key that is not on the curve", {
      invite: [{ ...invitation(first, token), join_key: offCurve }],
    }),
  ];
}

/** Position and signer: checks 2 and 3. */
function wrongPlaces(): HistoryVector[] {
  const other = grow(first, folder, ada, { name: "b" });
  const named: Change = { name: "a" };
  const next = (signer: Actor, before = shared): string => nextEntry(before, before.res, signer, named);
  const claims = (by: string): object => claimsAfter(shared, folder, by, named);
  const elsewhere = `folder:${uuid("another")}`;
  const tag = `invite:${token.tag}`;
  return [
    refused("an entry of another folder", first, nextEntry(first, elsewhere, ada, named)),
    refused("an entry of a vault with this id", first, nextEntry(first, folder.replace("folder", "vault"), ada, named)),
    refused("a history that begins with entry 1", null, second.entries[1] ?? ""),
    refused("the last entry once more", second, second.entries[1] ?? ""),
    refused("an entry is missing", first, nextEntry(second, folder, ada, named)),
    refused("the entry after another one", other, nextEntry(second, folder, ada, named)),
    withMembers("prev null", { prev: null }),
    withMembers("the number after the next", { seq: 2 }),
    refused(
      "entry 0 with a prev",
      null,
      entryOf({ ...claimsAfter(null, folder, ada.who, firstChange()), prev: sha256("") }, ada.pair),
    ),
    refused("a holder with write", shared, next(bob)),
    refused("a stranger", shared, next(eve)),
    refused("a manager's id with another key", shared, entryOf(claims(ada.who), eve.pair)),
    refused(
      "a manager's former key",
      grow(shared, folder, ada, { set: [{ ...holder(ada, "manage"), key: eve.key }] }),
      nextEntry(grow(shared, folder, ada, { set: [{ ...holder(ada, "manage"), key: eve.key }] }), folder, ada, named),
    ),
    refused("a manager who was dropped", dropped(), nextEntry(dropped(), folder, bob, named)),
    refused("a manager who stepped down", lowered(), nextEntry(lowered(), folder, bob, named)),
    refused(
      "an invitation that there is not",
      first,
      nextEntry(first, folder, { by: tag, pair: joinPair }, { set: [holder(machine, "read")] }),
    ),
    refused("a member of the organization is set and signs as that", members, nextEntry(members, org, bob, named)),
  ];
}

function dropped(): Chain {
  const both = grow(first, folder, ada, { set: [holder(bob, "manage")] });
  return grow(both, folder, ada, { drop: [bob.who], ...version(folder, 2) });
}

function lowered(): Chain {
  const both = grow(first, folder, ada, { set: [holder(bob, "manage")] });
  return grow(both, folder, ada, { set: [holder(bob, "read")] });
}

function firstChange(): Change {
  return { org: orgId, name: "production", set: [holder(ada, "manage")], ...version(folder, 1) };
}

function wrongFirstEntries(): HistoryVector[] {
  const folderOf = (name: string, change: Change, signer = ada): HistoryVector =>
    refused(name, null, nextEntry(null, folder, signer, { ...firstChange(), ...change }));
  const without = (name: keyof Change): HistoryVector => {
    const change = Object.fromEntries(Object.entries(firstChange()).filter(([each]) => each !== name));
    return refused(`entry 0 without ${name}`, null, nextEntry(null, folder, ada, change));
  };
  const { ver: _ver, check: _check, ...keyless } = firstChange();
  return [
    without("org"),
    without("name"),
    without("set"),
    without("ver"),
    without("check"),
    refused("entry 0 without ver and check", null, nextEntry(null, folder, ada, keyless)),
    folderOf("entry 0 with version 0", { ver: 0 }),
    folderOf("entry 0 with a version that is no whole number", { ver: 1.5 }),
    folderOf("entry 0 whose organization is in upper case", { org: orgId.toUpperCase() }),
    folderOf("entry 0 whose signer it does not set", {}, bob),
    folderOf("entry 0 whose signer does not manage", { set: [holder(ada, "write"), holder(bob, "manage")] }),
    folderOf("entry 0 that names another key for its signer", { set: [{ ...holder(ada, "manage"), key: eve.key }] }),
    folderOf("entry 0 with a drop", { drop: [bob.who] }),
    refused(
      "entry 0 of an organization with a key",
      null,
      nextEntry(null, org, ada, { name: "Example", set: [holder(ada, "manage", org)], ...version(org, 1) }),
      org,
    ),
    refused(
      "entry 0 of an organization with an organization",
      null,
      nextEntry(null, org, ada, { org: orgId, name: "Example", set: [holder(ada, "manage", org)] }),
      org,
    ),
  ];
}

/** The state that an entry may not change. */
function wrongChanges(): HistoryVector[] {
  const changes = (name: string, before: Chain, change: Change): HistoryVector =>
    refused(name, before, nextEntry(before, before.res, ada, change));
  const again = version(folder, 1);
  const managers = grow(first, folder, ada, { set: [holder(bob, "manage")] });
  const cut = { [sha256(folder)]: [0, first.state.head.hash] as [number, string] };
  const begun = grow(members, org, ada, { drop: [bob.who], cut });
  const folderInvitation = invitation(first, token);
  const inOrg = invitation(members, tokenOf(bytes("invite seed", 32), "invite"));
  const strange = (perm: VectorHolder["perm"]): VectorHolder => ({ ...holder(eve, perm), email: eve.email });
  return [
    changes("org in a later entry", first, { org: orgId }),
    changes("the version of the key once more", first, again),
    changes("the version after the next", first, version(folder, 3)),
    changes("ver without check", first, { ver: 2 }),
    changes("check without ver", first, { check: again.check }),
    changes("the drop of a holder without a new key", shared, { drop: [bob.who] }),
    changes("the drop of somebody who is no holder", first, { drop: [bob.who], ...version(folder, 2) }),
    changes("the drop of a holder twice", shared, { drop: [bob.who, bob.who], ...version(folder, 2) }),
    changes("the drop of an invitation that is not open", first, { drop: [`invite:${token.tag}`] }),
    changes("a holder is set twice", first, { set: [holder(bob, "read"), holder(bob, "write")] }),
    changes("a holder is set and dropped", managers, {
      set: [holder(bob, "read")],
      drop: [bob.who],
      ...version(folder, 2),
    }),
    changes("the last manager is dropped", shared, { drop: [ada.who], ...version(folder, 2) }),
    changes("the last manager steps down", shared, { set: [holder(ada, "read")] }),
    changes("a machine that manages", first, { set: [holder(machine, "manage")] }),
    changes("a machine as the holder of a vault", vaults, { set: [holder(machine, "read")] }),
    changes("a machine in an organization", members, { set: [holder(machine, "read", org)] }),
    changes("a holder of a folder with an e-mail", first, { set: [strange("read")] }),
    changes("a member of an organization without an e-mail", members, { set: [holder(eve, "read")] }),
    changes("a member of an organization with write", members, { set: [strange("write")] }),
    changes("an invitation that is open already", invited, { invite: [invitation(invited, token)] }),
    changes("an invitation of a machine that would manage", first, {
      invite: [{ ...folderInvitation, perm: "manage" }],
    }),
    changes("an invitation of a person to a folder", first, { invite: [{ ...folderInvitation, kind: "user" }] }),
    changes("an invitation to a vault", vaults, { invite: [invitation(vaults, token)] }),
    changes("an invitation of a machine into an organization", members, { invite: [{ ...inOrg, kind: "client" }] }),
    changes("a cut in a folder", shared, { drop: [bob.who], cut, ...version(folder, 2) }),
    changes("a cut without a drop", members, { cut }),
    changes("a later cut with something else", begun, { drop: [bob.who], cut, name: "b" }),
    changes("a later cut of somebody who was never a member", begun, { drop: [eve.who], cut }),
    changes("a second drop without a cut", begun, { drop: [bob.who] }),
    changes("a key in an organization", members, version(org, 1)),
  ];
}

function wrongJoins(): HistoryVector[] {
  const by = { by: `invite:${token.tag}`, pair: joinPair };
  const good = { set: [holder(machine, "read")] };
  const joins = (name: string, change: Change, before = invited, signer: { by: string; pair: Actor["pair"] } = by) =>
    refused(name, before, nextEntry(before, before.res, signer, change));
  const joined = grow(invited, folder, by, good);
  const other = { ...holder(machine, "read"), who: `client:${uuid("another client")}` };
  const orgToken = tokenOf(bytes("invite seed", 32), "invite");
  const orgInvited = grow(begin(org, ada), org, ada, { invite: [invitation(begin(org, ada), orgToken)] });
  const orgJoin = { by: `invite:${orgToken.tag}`, pair: joinPair };
  const lost = grow(
    grow(grow(first, folder, ada, { set: [holder(bob, "manage")] }), folder, bob, {
      invite: [invitation(grow(first, folder, ada, { set: [holder(bob, "manage")] }), token)],
    }),
    folder,
    ada,
    { set: [holder(bob, "read")] },
  );
  return [
    joins("a join with more permission", { set: [holder(machine, "write")] }),
    joins("a join of another kind", { set: [holder(bob, "read")] }),
    joins("a join of two", { set: [holder(machine, "read"), other] }),
    joins("a join of none", {}),
    joins("a join that renames", { ...good, name: "mine" }),
    joins("a join that rotates", { ...good, ...version(folder, 2) }),
    joins("a join that is signed with the newcomer's key", good, invited, { ...by, pair: machine.pair }),
    joins("a join by an invitation that was used", { set: [other] }, joined),
    joins(
      "a join by an invitation that was dropped",
      good,
      grow(invited, folder, ada, { drop: [`invite:${token.tag}`] }),
    ),
    joins("a join by an invitation whose maker lost manage", good, lost),
    joins("a join of a holder", good, grow(invited, folder, ada, { set: [holder(machine, "read")] })),
    joins(
      "a join with another e-mail",
      { set: [{ ...holder(bob, "read", org), email: eve.email }] },
      orgInvited,
      orgJoin,
    ),
    joins(
      "a join in the place of a member",
      { set: [{ ...holder(ada, "read", org), email: bob.email }] },
      orgInvited,
      orgJoin,
    ),
  ];
}

/** Entries that a reader must refuse, one reason each. */
export function refusedEntries(): HistoryVector[] {
  return [
    ...malformedTexts(),
    ...malformedClaims(),
    ...wrongPlaces(),
    ...wrongFirstEntries(),
    ...wrongChanges(),
    ...wrongJoins(),
  ];
}
