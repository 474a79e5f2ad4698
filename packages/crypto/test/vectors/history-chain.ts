import { createCipheriv, createHash, hkdfSync } from "node:crypto";
import { bytes, keyPair, uuid, type VectorKeyPair } from "./material.ts";
import type { VectorHolder, VectorInvitation, VectorState } from "./shapes.ts";
import { encode, signature } from "./signed-tokens.ts";

/** A person or machine that signs, or has a key. */
export interface Actor {
  who: string;
  email: string;
  pair: VectorKeyPair;
  /** base64 of the SPKI DER. */
  key: string;
}

function actor(who: string, name: string): Actor {
  const pair = keyPair(name);
  return { who, email: `${name}@example.com`, pair, key: pair.spki.toString("base64") };
}

/** The person of the other vectors, who makes all entries here. */
export const ada = actor(`user:${uuid("user")}`, "ada");
export const bob = actor(`user:${uuid("bob")}`, "bob");
export const eve = actor(`user:${uuid("eve")}`, "eve");
/** The machine of the machines' tokens. */
export const machine = actor(`client:${uuid("client")}`, "machine");

export const orgId = uuid("organization");
export const org = `org:${orgId}`;
export const folder = `folder:${uuid("folder")}`;
export const vault = `vault:${uuid("vault")}`;

export const entryHeader = '{"alg":"ES256","typ":"coffer-history+jwt"}';

/** The claims of an entry without place and signer, in the order in which Coffer's client writes them. */
export interface Change {
  org?: string;
  name?: string;
  set?: VectorHolder[];
  drop?: string[];
  cut?: Record<string, [number, string]>;
  invite?: VectorInvitation[];
  ver?: number;
  check?: string;
}

/** A valid history: its entries and its final state. */
export interface Chain {
  res: string;
  entries: string[];
  state: VectorState;
}

/** A compact JWS of these claims, or of this text. The signature is that of RFC 6979. */
export function entryOf(claims: object | string | Buffer, pair: VectorKeyPair, header = entryHeader): string {
  const signed = `${encode(header)}.${encode(claims)}`;
  return `${signed}.${encode(signature(signed, pair))}`;
}

/** Lower-case hex SHA-256 of `header.payload`. */
export function hashOf(entry: string): string {
  return sha256(entry.slice(0, entry.lastIndexOf(".")));
}

export function sha256(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

export function checkOf(key: Buffer, res: string, ver: number): string {
  return Buffer.from(hkdfSync("sha256", key, "", `coffer/v1/key-check/${res}/${ver}`, 32)).toString("hex");
}

/** The key of the folder or vault in its versions. */
export function resourceKey(ver: number, res = folder): Buffer {
  const name = res === vault ? "vault key" : "folder key";
  return bytes(ver === 1 ? name : `${name} ${ver}`, 32);
}

/** `ver` and `check` of a version. */
export function version(res: string, ver: number): { ver: number; check: string } {
  return { ver, check: checkOf(resourceKey(ver, res), res, ver) };
}

export function holder({ who, key, email }: Actor, perm: VectorHolder["perm"], res = folder): VectorHolder {
  return { who, key, perm, ...(res.startsWith("org:") ? { email } : {}) };
}

/** The claims of the entry that follows a history. */
export function claimsAfter(before: Chain | null, res: string, by: string, change: Change): Record<string, unknown> {
  const { org: organization, name, set, drop, cut, invite, ver, check } = change;
  const place = before === null ? { seq: 0, prev: null } : { seq: before.entries.length, prev: before.state.head.hash };
  const members = { res, org: organization, ...place, by, name, set, drop, cut, invite, ver, check };
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined));
}

/** The next entry of a history. An actor signs as itself; a join is signed with the join key. */
export function nextEntry(
  before: Chain | null,
  res: string,
  signer: Actor | { by: string; pair: VectorKeyPair },
  change: Change,
): string {
  const by = "by" in signer ? signer.by : signer.who;
  return entryOf(claimsAfter(before, res, by, change), signer.pair);
}

/** A history with one more valid entry: the readers check the rules. */
export function grow(
  before: Chain | null,
  res: string,
  signer: Actor | { by: string; pair: VectorKeyPair },
  change: Change,
): Chain {
  const entry = nextEntry(before, res, signer, change);
  const by = "by" in signer ? signer.by : signer.who;
  return {
    res,
    entries: [...(before?.entries ?? []), entry],
    state: stateAfter(before?.state, res, by, entry, change),
  };
}

/** Entry 0 of an organization, folder or vault by this person. */
export function begin(res: string, founder: Actor, others: VectorHolder[] = []): Chain {
  const set = [holder(founder, "manage", res), ...others];
  if (res === org) return grow(null, res, founder, { name: "Example", set });
  return grow(null, res, founder, { org: orgId, name: "production", set, ...version(res, 1) });
}

function stateAfter(
  before: VectorState | undefined,
  res: string,
  by: string,
  entry: string,
  change: Change,
): VectorState {
  const { set = [], drop = [], cut = {}, invite = [] } = change;
  const head = { seq: before === undefined ? 0 : before.head.seq + 1, hash: hashOf(entry) };
  const changed = new Set([...drop, ...set.map(({ who }) => who)]);
  const holders = [...(before?.holders ?? []).filter(({ who }) => !changed.has(who)), ...set];
  holders.sort((one, other) => (one.who < other.who ? -1 : 1));
  const used = before?.invitations.find(({ tag }) => by === `invite:${tag}`);
  const signedBy = (before?.holders ?? set).find(({ who }) => who === by);
  const word = { who: used?.by ?? by, key: used?.by_key ?? signedBy?.key ?? "" };
  const place = { seq: head.seq, prev: before?.head.hash ?? null };
  const invitations = [
    ...(before?.invitations ?? []).filter((one) => one !== used && !drop.includes(`invite:${one.tag}`)),
    ...invite.map((one) => ({ ...one, by: word.who, by_key: word.key, ...place })),
  ].filter((one) => holders.some(({ who, perm }) => who === one.by && perm === "manage"));
  const since = before?.set_at[word.who] ?? 0;
  const isSame = (one: VectorState["signers"][number]): boolean =>
    one.who === word.who && one.key === word.key && one.since === since;
  const signers = (before?.signers ?? []).filter((one) => !isSame(one));
  return {
    res,
    org: before?.org ?? change.org ?? null,
    head,
    name: change.name ?? before?.name ?? "",
    ver: change.ver ?? before?.ver ?? null,
    check: change.check ?? before?.check ?? null,
    holders,
    invitations,
    set_at: res.startsWith("org:") ? {} : setAtAfter(before, head.seq, change),
    signers: res.startsWith("org:") ? [] : [...signers, { ...word, since, seq: head.seq }],
    former: res.startsWith("org:") ? formerAfter(before, drop, cut) : [],
    last_signer: by,
  };
}

/** The entry that last set each person of a folder or vault. */
function setAtAfter(
  before: VectorState | undefined,
  seq: number,
  { set = [], drop = [] }: Change,
): VectorState["set_at"] {
  const setAt = new Map(Object.entries(before?.set_at ?? {}));
  for (const who of drop) setAt.delete(who);
  for (const { who } of set) if (who.startsWith("user:")) setAt.set(who, seq);
  return Object.fromEntries(setAt);
}

function formerAfter(before: VectorState | undefined, drop: string[], cut: Change["cut"]): VectorState["former"] {
  let former = [...(before?.former ?? [])];
  for (const dropped of drop.filter((one) => one.startsWith("user:"))) {
    const present = before?.holders.find(({ who }) => who === dropped);
    if (present === undefined) {
      former = former.map((one) => (one.who === dropped ? { ...one, cut: { ...one.cut, ...cut } } : one));
      continue;
    }
    const earlier = former.find(({ who, key }) => who === present.who && key === present.key);
    former = former.filter((one) => one !== earlier);
    former.push({ who: present.who, key: present.key, cut: { ...earlier?.cut, ...cut } });
  }
  return former;
}

/** The values that are derived from a one-time token; `purpose` is `ott` (machines) or `invite` (people). */
export function tokenOf(seed: Buffer, purpose: "ott" | "invite"): { token: string; tag: string; wrapKey: Buffer } {
  const derived = (part: string): Buffer =>
    Buffer.from(hkdfSync("sha256", seed, "", `coffer/${purpose}/${part}/v1`, 32));
  const token = derived("auth").toString("base64url");
  return { token, tag: sha256(token), wrapKey: derived("wrap") };
}

/** The context of a join key: bound to the position of its entry. */
export function joinContext(before: Chain | null, res: string): string {
  return `coffer/v1/join/${res}/${before?.entries.length ?? 0}/${before?.state.head.hash ?? "null"}`;
}

/** Box version 1; without a context, the bare layout. */
export function boxed(key: Buffer, nonce: Buffer, plaintext: Buffer, context: string | null): string {
  const cipher = createCipheriv("aes-256-gcm", key, nonce);
  if (context !== null) cipher.setAAD(Buffer.from(context));
  const sealed = [nonce, cipher.update(plaintext), cipher.final(), cipher.getAuthTag()];
  return Buffer.concat(context === null ? sealed : [Buffer.of(1), ...sealed]).toString("base64");
}

/** The key pair of an invitation. */
export const joinPair = keyPair("join");

/** An invitation in the next entry of a history; for an organization by e-mail, for a folder to a machine. */
export function invitation(
  before: Chain,
  { tag, wrapKey }: { tag: string; wrapKey: Buffer },
  perm: VectorHolder["perm"] = "read",
): VectorInvitation {
  const sealed = boxed(wrapKey, bytes("join/nonce", 12), joinPair.pkcs8, joinContext(before, before.res));
  const given = { join_key: joinPair.spki.toString("base64"), sealed };
  if (before.res === org) return { tag, kind: "user", perm, email: bob.email, ...given };
  return { tag, kind: "client", perm, ...given };
}

/** Signs a text instead of Coffer's own JSON of the same claims. */
export function asJson(chain: Chain, change: Change, write: (json: string) => string): Chain {
  const json = write(JSON.stringify(claimsAfter(chain, chain.res, ada.who, change)));
  const entry = entryOf(json, ada.pair);
  const { state } = grow(chain, chain.res, ada, change);
  const head = { seq: state.head.seq, hash: hashOf(entry) };
  const signers = state.signers.map((one) => (one.who === ada.who ? { ...one, seq: head.seq } : one));
  return { res: chain.res, entries: [...chain.entries, entry], state: { ...state, head, signers } };
}

/** A rename, with white space up to this length of the compact JWS. */
export function ofLength(before: Chain, length: number): Chain {
  for (let padding = Math.floor(length * 0.75) - 600; ; padding += 1) {
    const made = asJson(before, { name: "long" }, (json) => `${json}${" ".repeat(padding)}`);
    if ((made.entries.at(-1)?.length ?? 0) >= length) return made;
  }
}
