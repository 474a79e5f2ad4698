import { createPrivateKey, randomBytes, randomUUID, sign } from "node:crypto";
import {
  box,
  contexts,
  decodeBase64,
  encodeBase64,
  encodeRecord,
  encodeSecret,
  encodeText,
  newKey,
  newSecretUid,
  seal,
} from "@coffer/crypto";
import type { Random } from "@coffer/testkit";
import type { Identity } from "./oracle.ts";
import {
  checkOf,
  type Claims,
  type Forgery,
  type KnownEntry,
  type Res,
  type StateThere,
  type Truth,
  type Who,
} from "./truth.ts";

/** Forged entries after true ones, and the key that the last of them names, if it is the attacker's. */
export interface ForgedTail {
  entries: KnownEntry[];
  key: string | undefined;
}

/**
 * The operator of the service: it has all data, the keys of removed members, and those of a present
 * reader.
 */
export interface Attacker {
  /** Key pairs of no member of the organization. */
  readonly strangers: readonly Identity[];
  /** Those whose private keys it has. */
  accomplices(): Identity[];
  /**
   * Entries after a state that a client must refuse, always or after a removal; `byFormer`: signed by a
   * former manager.
   */
  forge(random: Random, before: StateThere, byFormer: boolean): ForgedTail | undefined;
  /** Whether a former manager, whose keys it has, managed at this state. */
  hasFormer(state: StateThere): boolean;
  /** A folder or vault that an accomplice founds, with this holder. */
  found(
    random: Random,
    kind: "folder" | "vault",
    org: string,
    name: string,
    holder: Identity,
  ): { res: Res; entry: KnownEntry; key: string };
  /** A usable key for a folder: its own, or one of an accomplice. */
  anyKey(random: Random, res: Res): string;
  sealTo(publicKey: string, key: string, res: Res): Promise<string>;
  /** The ciphertext of a record of a vault, sealed under that key. */
  record(key: string, res: Res, id: string): Promise<string>;
  /** A secret with this title, sealed under that key. */
  secret(key: string, res: Res, title: string, uid?: string): Promise<Record<string, unknown>>;
}

export interface AttackerOptions {
  truth: Truth;
  strangers: readonly Identity[];
  accomplices(): Identity[];
}

type Draft = Partial<Claims>;

export function createAttacker({ truth, strangers, accomplices }: AttackerOptions): Attacker {
  let values = 0;

  const signed = (claims: Draft, by: Identity, forgery: Forgery, payload = JSON.stringify(claims)): KnownEntry => {
    const header = '{"alg":"ES256","typ":"coffer-history+jwt"}';
    const text = [header, payload].map((part) => Buffer.from(part).toString("base64url")).join(".");
    const key = createPrivateKey({ key: Buffer.from(by.privateKey), format: "der", type: "pkcs8" });
    const signature = sign("sha256", Buffer.from(text), { key, dsaEncoding: "ieee-p1363" });
    return truth.note(`${text}.${signature.toString("base64url")}`, forgery);
  };

  const place = ({ entry }: StateThere): Pick<Claims, "res" | "seq" | "prev"> => ({
    res: entry.claims.res,
    seq: entry.claims.seq + 1,
    prev: entry.hash,
  });

  const ownKey = (res: Res, ver: number): { key: string; check: string } => {
    const key = encodeBase64(newKey());
    truth.noteKey(key, res, ver, ...strangers.map(({ who }) => who));
    return { key, check: checkOf(key, res, ver) };
  };

  /** A person who managed at that state and no longer does. */
  const formerOf = (before: StateThere): Identity | undefined => {
    const { res, org } = before.entry.claims;
    const now = truth.newest(res);
    const organization = truth.newest(res.startsWith("org:") ? res : `org:${before.org ?? org ?? ""}`);
    return accomplices().find(({ who, publicKey }) => {
      const holder = before.holders.get(who);
      const isHere = now?.holders.has(who) === true && organization?.holders.has(who) === true;
      return holder?.perm === "manage" && holder.key === publicKey && !isHere;
    });
  };

  const forge = (random: Random, before: StateThere, onlyFormer: boolean): ForgedTail | undefined => {
    const at = place(before);
    const { res } = at;
    const ver = before.ver + 1;
    const isOrg = res.startsWith("org:");
    const stranger = random.pick(strangers);
    const someone = random.pick(accomplices());
    const former = formerOf(before);
    const email = isOrg ? { email: "stranger@example.com" } : {};
    const strange = { who: stranger.who, key: stranger.publicKey, perm: isOrg ? "read" : "write", ...email };
    const never = (what: string): Forgery => ({ kind: "never", what });
    const byFormer = (what: string): Forgery =>
      former === undefined ? never(what) : { kind: "former", what, who: former.who, key: former.publicKey };
    const manager = [...before.holders].find(([, { perm }]) => perm === "manage")?.[0] ?? someone.who;
    const isManagerThere = before.holders.get(someone.who)?.perm === "manage";
    const rotation = (own = ownKey(res, ver)): { claims: Draft; key: string } => ({
      claims: isOrg ? { set: [strange] } : { ver, check: own.check },
      key: own.key,
    });
    const set = [strange];
    const tail = (claims: Draft, by: Identity, forgery: Forgery, key?: string): ForgedTail => ({
      entries: [signed({ ...at, ...claims }, by, forgery)],
      key: isOrg ? undefined : key,
    });
    const kinds: (() => ForgedTail | undefined)[] = [
      () => {
        const { claims, key } = rotation();
        return isManagerThere ? undefined : tail({ by: someone.who, ...claims }, someone, never("a reader signs"), key);
      },
      () => (isManagerThere ? undefined : tail({ by: someone.who, set }, someone, never("a reader adds a holder"))),
      () => {
        const { claims, key } = rotation();
        return tail({ by: manager, ...claims }, stranger, never("signed with another key"), key);
      },
      () => tail({ by: manager, set }, someone.who === manager ? stranger : someone, never("signed with another key")),
      () => {
        const own = ownKey(res, ver);
        const drop = [...before.holders.keys()].filter((who) => who !== someone.who);
        if (isOrg || isManagerThere || drop.length === before.holders.size) return undefined;
        return tail({ by: someone.who, drop, ver, check: own.check }, someone, never("a reader rotates"), own.key);
      },
      () => {
        const [tag] = [...before.invitations.keys()];
        if (tag === undefined) return undefined;
        return tail({ by: `invite:${tag}`, set }, stranger, never("a join without the join key"));
      },
      () =>
        tail({ by: `invite:${randomBytes(32).toString("hex")}`, set }, stranger, never("a join without an invitation")),
      () => {
        if (former === undefined) return undefined;
        const { claims, key } = rotation();
        return tail({ by: former.who, ...claims }, former, byFormer("a former manager rotates"), key);
      },
      () =>
        former === undefined ? undefined : tail({ by: former.who, set }, former, byFormer("a former manager adds")),
      () => {
        if (former === undefined) return undefined;
        const first = signed({ ...at, by: former.who, set }, former, byFormer("a former manager adds"));
        const own = ownKey(res, ver);
        const state = truth.stateAt(first.hash);
        if (state === undefined || isOrg) return undefined;
        const next = { ...place(state), by: former.who, ver, check: own.check };
        return { entries: [first, signed(next, former, byFormer("a former manager rotates"))], key: own.key };
      },
      () => {
        if (former === undefined || isOrg) return undefined;
        const own = ownKey(res, ver + 1);
        return tail({ by: former.who, ver: ver + 1, check: own.check }, former, never("a skipped version"), own.key);
      },
      () => {
        const drop = [...before.holders.keys()].find((who) => who !== former?.who);
        if (former === undefined || isOrg || drop === undefined) return undefined;
        return tail({ by: former.who, drop: [drop] }, former, never("a drop without a new key"));
      },
      () => {
        if (former === undefined) return undefined;
        const claims = { by: former.who, set, prev: randomBytes(32).toString("hex") };
        const entry = signed({ ...at, ...claims }, former, never("after another entry"));
        return { entries: [entry], key: undefined };
      },
      () => {
        if (former === undefined) return undefined;
        const text = JSON.stringify({ ...at, by: former.who, name: "a" }).replace(/}$/, ',"name":"b"}');
        return { entries: [signed({}, former, never("a claim twice"), text)], key: undefined };
      },
    ];
    // Entries of a former manager are the last seven.
    const preferred = onlyFormer ? kinds.slice(-7) : kinds;
    for (const kind of random.shuffled(preferred)) {
      const made = kind();
      if (made !== undefined) return made;
    }
    return undefined;
  };

  return {
    strangers,
    accomplices,
    forge,
    hasFormer: (state) => formerOf(state) !== undefined,
    found(random, kind, org, name, holder) {
      const founder = random.pick([...accomplices(), ...strangers]);
      const res: Res = `${kind}:${randomUUID()}`;
      const own = ownKey(res, 1);
      const set = [
        { who: founder.who, key: founder.publicKey, perm: "manage" },
        { who: holder.who, key: holder.publicKey, perm: "read" },
      ];
      const claims = { res, org, seq: 0, prev: null, by: founder.who, name, set, ver: 1, check: own.check };
      // Any member may create a folder; others need not accept it.
      const forgery: Forgery = {
        kind: "former",
        what: "an accomplice founds",
        who: founder.who,
        key: founder.publicKey,
      };
      return { res, entry: signed(claims, founder, forgery), key: own.key };
    },
    anyKey(random, res) {
      const known = truth.keysOf(res).filter(({ knowers }) => accomplices().some(({ who }) => knowers.has(who)));
      return known.length > 0 && random.below(4) > 0 ? random.pick(known).key : ownKey(res, 1).key;
    },
    sealTo: (publicKey, key, res) =>
      seal(
        publicKey,
        decodeBase64(key),
        res.startsWith("vault:")
          ? contexts.vaultKey(res.slice("vault:".length))
          : contexts.sharedFolderKey(res.slice("folder:".length)),
      ),
    async record(key, res, id) {
      values += 1;
      const value = `forged-${values}`;
      truth.values.set(value, { res, title: "record", forgedUnder: key });
      const context = contexts.record(res.slice("vault:".length), id);
      return box(decodeBase64(key), encodeRecord({ name: "record", v: value }), context);
    },
    async secret(key, res, title, uid = newSecretUid()) {
      values += 1;
      const value = `forged-${values}`;
      truth.values.set(value, { res, title, forgedUnder: key });
      const [dek, raw] = [newKey(), decodeBase64(key)];
      return {
        uid,
        title,
        title_encrypted: await box(raw, encodeText(title), contexts.title(uid)),
        wrapped_dek: await box(raw, dek, contexts.dek(uid)),
        data_encrypted: await box(dek, encodeSecret({ name: title, fields: { v: value } }), contexts.data(uid)),
      };
    },
  };
}

export type { Who };
