import { createHash, hkdfSync } from "node:crypto";

// The truth by the test's own reading of the entries, without the product's checks.

export type Res = `org:${string}` | `folder:${string}` | `vault:${string}`;
export type Who = `user:${string}` | `client:${string}`;

/** Why a forged entry does not count: never, or not after its signer's removal was seen. */
export type Forgery = { kind: "never"; what: string } | { kind: "former"; what: string; who: Who; key: string };

export interface Claims {
  res: Res;
  org?: string;
  seq: number;
  prev: string | null;
  by: string;
  set?: { who: Who; key: string; perm: string; email?: string }[];
  drop?: string[];
  cut?: Record<string, [number, string]>;
  invite?: { tag: string; kind: string; perm: string; email?: string; join_key: string; sealed: string }[];
  ver?: number;
  check?: string;
  name?: string;
}

export interface KnownEntry {
  text: string;
  hash: string;
  claims: Claims;
  forgery: Forgery | undefined;
}

/** The state of a history at an entry. */
export interface StateThere {
  entry: KnownEntry;
  org: string | null;
  name: string;
  ver: number;
  check: string;
  holders: ReadonlyMap<Who, { key: string; perm: string }>;
  /** Dropped holders, with the version of the key that they do not have. */
  dropped: ReadonlyMap<Who, number>;
  invitations: ReadonlyMap<string, { by: Who; key: string }>;
  /** Of an organization: the cuts of dropped persons, by id and key. */
  former: ReadonlyMap<string, Record<string, [number, string]>>;
  /** The signers of the entries. */
  signers: readonly { who: Who; key: string; seq: number }[];
  forgeries: readonly KnownEntry[];
}

/** A key of a folder or vault in the clear. */
export interface KnownKey {
  key: string;
  res: Res;
  ver: number;
  /** Those who can open it. */
  knowers: Set<Who>;
}

/** A sealed value of a secret. */
export interface KnownValue {
  res: Res;
  title: string;
  /** base64 of the key, if the attacker sealed it. */
  forgedUnder: string | undefined;
}

export interface Truth {
  /** Records a signed entry of an honest client or the attacker. */
  note(text: string, forgery?: Forgery): KnownEntry;
  /** The service has stored this entry. */
  accept(entry: KnownEntry): void;
  entry(hash: string): KnownEntry | undefined;
  /** The entries of a history as the service has them. */
  history(res: Res): readonly KnownEntry[];
  /** The entries up to this one; undefined if one is unknown. */
  chain(hash: string): KnownEntry[] | undefined;
  stateAt(hash: string): StateThere | undefined;
  /** The newest state of the service; undefined without a history. */
  newest(res: Res): StateThere | undefined;
  /** Whether the service has an entry with this hash. */
  has(res: Res, hash: string): boolean;
  noteKey(key: string, res: Res, ver: number, ...knowers: Who[]): void;
  keyOf(key: string): KnownKey | undefined;
  keysOf(res: Res): KnownKey[];
  readonly values: Map<string, KnownValue>;
  /** The secrets of each folder by uid, as the service has them. */
  readonly secrets: Map<Res, Map<string, { title: string; version: number; value: string }>>;
  /** Sealed keys, by resource, version and holder. */
  readonly sealed: Map<string, { encrypted_key: string; encrypted_key_alg: string }>;
  /** Each person's keyrings by version: the pins, and the sent text. */
  readonly keyrings: Map<string, Map<number, { pins: Record<string, [number, string]>; sealed: string }>>;
  /** The version of each person's keyring that the service holds. */
  readonly keyringVersion: Map<string, number>;
  /** Personal vaults, with the base64 of their keys. */
  readonly personal: Map<Res, string>;
  /** The shared pins of vaults, by person, vault and version. */
  readonly vaultPins: Map<string, [number, string]>;
  /** The version of a person's pin of a vault that the service holds. */
  readonly vaultPinVersion: Map<string, number>;
  /** People whose membership the service has ended. */
  readonly removed: Set<Who>;
  /** Machines whose one-time token the service took. */
  readonly begun: Set<Who>;
  folders(): Res[];
  /** Shared vaults. */
  vaults(): Res[];
}

export function entryHash(text: string): string {
  const [header = "", payload = ""] = text.split(".");
  return createHash("sha256").update(`${header}.${payload}`).digest("hex");
}

export function checkOf(key: string, res: Res, ver: number): string {
  const info = `coffer/v1/key-check/${res}/${ver}`;
  return Buffer.from(hkdfSync("sha256", Buffer.from(key, "base64"), "", info, 32)).toString("hex");
}

export function cutNameOf(res: Res): string {
  return createHash("sha256").update(res).digest("hex");
}

export function sealedName(res: Res, ver: number, who: Who): string {
  return `${res} ${ver} ${who}`;
}

export function createTruth(): Truth {
  const entries = new Map<string, KnownEntry>();
  const histories = new Map<Res, KnownEntry[]>();
  const waiting = new Map<string | null, KnownEntry>();
  const states = new Map<string, StateThere | undefined>();
  const keys = new Map<string, KnownKey>();

  const chain = (hash: string): KnownEntry[] | undefined => {
    const found: KnownEntry[] = [];
    for (let next: string | null = hash; next !== null;) {
      const entry = entries.get(next);
      if (entry === undefined) return undefined;
      found.unshift(entry);
      next = entry.claims.prev;
    }
    return found;
  };

  const stateAt = (hash: string): StateThere | undefined => {
    if (states.has(hash)) return states.get(hash);
    const entry = entries.get(hash);
    if (entry === undefined) return undefined;
    const { prev } = entry.claims;
    const before = prev === null ? null : stateAt(prev);
    const state = before === undefined ? undefined : after(before, entry);
    states.set(hash, state);
    return state;
  };

  const truth: Truth = {
    note(text, forgery) {
      const hash = entryHash(text);
      const known = entries.get(hash);
      if (known !== undefined) return known;
      const claims = JSON.parse(Buffer.from(text.split(".")[1] ?? "", "base64url").toString()) as Claims;
      const entry = { text, hash, claims, forgery };
      entries.set(hash, entry);
      return entry;
    },
    accept(entry) {
      // Two responses may arrive in another order than their entries.
      waiting.set(entry.claims.prev ?? entry.claims.res, entry);
      const list = histories.get(entry.claims.res) ?? [];
      histories.set(entry.claims.res, list);
      for (;;) {
        const next = waiting.get(list.at(-1)?.hash ?? entry.claims.res);
        if (next === undefined) return;
        list.push(next);
        waiting.delete(next.claims.prev ?? next.claims.res);
      }
    },
    entry: (hash) => entries.get(hash),
    history: (res) => histories.get(res) ?? [],
    chain,
    stateAt,
    newest(res) {
      const head = histories.get(res)?.at(-1);
      return head === undefined ? undefined : stateAt(head.hash);
    },
    has: (res, hash) => histories.get(res)?.some((one) => one.hash === hash) === true,
    noteKey(key, res, ver, ...knowers) {
      const known = keys.get(key) ?? { key, res, ver, knowers: new Set() };
      keys.set(key, known);
      for (const who of knowers) known.knowers.add(who);
    },
    keyOf: (key) => keys.get(key),
    keysOf: (res) => [...keys.values()].filter((one) => one.res === res),
    values: new Map(),
    secrets: new Map(),
    sealed: new Map(),
    keyrings: new Map(),
    keyringVersion: new Map(),
    personal: new Map(),
    vaultPins: new Map(),
    vaultPinVersion: new Map(),
    removed: new Set(),
    begun: new Set(),
    folders: () => [...histories.keys()].filter((res) => res.startsWith("folder:")),
    vaults: () => [...histories.keys()].filter((res) => res.startsWith("vault:")),
  };
  return truth;
}

function after(before: StateThere | null, entry: KnownEntry): StateThere {
  const { claims } = entry;
  const { set = [], drop = [], invite = [], by, seq } = claims;
  const holders = new Map(before?.holders);
  const dropped = new Map(before?.dropped);
  const invitations = new Map(before?.invitations);
  const former = new Map(before?.former);
  const ver = claims.ver ?? before?.ver ?? 0;
  const invitation = invitations.get(by.replace(/^invite:/, ""));
  const author = by.startsWith("invite:") ? invitation?.by : (by as Who);
  const authorKey = by.startsWith("invite:")
    ? invitation?.key
    : ((before === null ? set.find(({ who }) => who === by) : holders.get(by as Who))?.key ?? "");
  if (by.startsWith("invite:")) invitations.delete(by.slice("invite:".length));
  for (const one of drop) {
    const holder = holders.get(one as Who);
    if (one.startsWith("invite:")) invitations.delete(one.slice("invite:".length));
    else dropped.set(one as Who, ver);
    const name = `${one} ${holder?.key ?? [...former.keys()].find((key) => key.startsWith(`${one} `))?.slice(one.length + 1) ?? ""}`;
    if (one.startsWith("user:") && claims.res.startsWith("org:"))
      former.set(name, { ...(holder === undefined ? former.get(name) : {}), ...claims.cut });
    holders.delete(one as Who);
  }
  for (const { who, key, perm } of set) holders.set(who, { key, perm });
  for (const { tag } of invite) invitations.set(tag, { by: author as Who, key: authorKey ?? "" });
  for (const [tag, one] of invitations) if (holders.get(one.by)?.perm !== "manage") invitations.delete(tag);
  return {
    entry,
    org: before?.org ?? claims.org ?? null,
    name: claims.name ?? before?.name ?? "",
    ver,
    check: claims.check ?? before?.check ?? "",
    holders,
    dropped,
    invitations,
    former,
    signers: [...(before?.signers ?? []), { who: author as Who, key: authorKey ?? "", seq }],
    forgeries: [...(before?.forgeries ?? []), ...(entry.forgery === undefined ? [] : [entry])],
  };
}
