import { contexts, decodeBase64, encodeBase64, openSealed, unboxBound } from "@coffer/crypto";
import { newestPin, type Trusted } from "@coffer/sdk";
import type { Actor } from "./actor.ts";
import {
  checkOf,
  cutNameOf,
  type KnownEntry,
  type Res,
  sealedName,
  type StateThere,
  type Truth,
  type Who,
} from "./truth.ts";

export type Body = Record<string, unknown>;

/** A request as the service gets it. */
export interface Sent {
  method: string;
  /** With the query. */
  path: string;
  pathname: string;
  query: URLSearchParams;
  headers: Record<string, string>;
  body: Body;
}

/** A person whose private key the test has. */
export interface Identity {
  who: Who;
  publicKey: string;
  privateKey: Uint8Array;
  userKey?: Uint8Array | undefined;
}

/**
 * Knows the truth, watches the clients' requests and storage, and reports forbidden ones: using a key that
 * a removed person knows, or that no manager signed; sealing for a key that no manager added; losing a pin.
 */
export interface Oracle {
  readonly violations: string[];
  /** Checks a request before the service gets it. The result is called when the service has performed it. */
  observe(actor: Actor, sent: Sent): Promise<(answer: Body) => void>;
  /** An actor uses this key (base64) for a folder. */
  uses(actor: Actor, res: Res, key: string, how: string): void;
  /** An actor read this value of a secret. */
  reads(actor: Actor, res: Res, title: string, value: string): void;
  /** Compares an actor's trust with everything that it has seen. */
  inspect(actor: Actor): void;
  /** The actor has reset a history by the documented step; all of them without one. */
  forgives(actor: Actor, res?: Res): void;
  violation(actor: Actor, what: string): void;
}

export interface OracleOptions {
  truth: Truth;
  /** All actors, also the attacker. */
  identities: ReadonlyMap<Who, Identity>;
  /** Keys that the attacker alone has. */
  strangers: readonly Identity[];
  /** The value that the actor writes in its present deed. */
  writing: Map<Actor, { value: string; title: string }>;
}

const folderAt = /^\/api\/(?:org|sm\/v1)\/folders\/([^/]+)/;
const grantOfMachine = /^\/api\/org\/applications\/[^/]+\/clients\/([^/]+)\/folders\/([^/]+)$/;
const grantOfPerson = /^\/api\/(?:org\/(folder)s|(vault)s)\/([^/]+)\/members\/([^/]+)$/;
const rotation = /^\/api\/(?:org\/(folder)s|(vault)s)\/([^/]+)\/rotate$/;
const recordAt = /^\/api\/vaults\/([^/]+)\/records(?:\/([^/]+))?$/;
const vaultPin = /^\/api\/vaults\/([^/]+)\/pin$/;

export function createOracle({ truth, identities, strangers, writing }: OracleOptions): Oracle {
  const violations: string[] = [];
  const violation = (actor: Actor, what: string): void => void violations.push(`${actor.name}: ${what}`);

  /** The actor's own pin of a history; undefined, with a violation, for an unknown entry. */
  const stateOf = (actor: Actor, res: Res, how: string): StateThere | undefined => {
    const pin = actor.record().resources[res]?.pin;
    const state = pin === undefined ? undefined : truth.stateAt(pin.hash);
    if (state === undefined) violation(actor, `${how} of ${res}, of which it has verified nothing`);
    return state;
  };

  const organizationOf = (actor: Actor, { org }: StateThere): StateThere | undefined => {
    const pin = actor.record().resources[`org:${org ?? ""}`]?.pin;
    return pin === undefined ? undefined : truth.stateAt(pin.hash);
  };

  /** Forged entries in the actor's trust that it must know to be invalid. */
  const checkForgeries = (actor: Actor, res: Res, state: StateThere, how: string): void => {
    const organization = organizationOf(actor, state);
    for (const { claims, forgery, hash } of state.forgeries) {
      if (forgery === undefined) continue;
      if (forgery.kind === "never") {
        violation(actor, `${how} of ${res}, which counts on a forged entry ${claims.seq}: ${forgery.what}`);
        continue;
      }
      if (actor.who.startsWith("client:") || organization === undefined) continue;
      if (organization.holders.get(forgery.who)?.key === forgery.key) continue;
      const cut = organization.former.get(`${forgery.who} ${forgery.key}`)?.[cutNameOf(res)];
      const counts =
        cut === undefined
          ? (actor.seen.get(res) ?? []).some((seen) => chainOf(seen).includes(hash))
          : claims.seq <= cut[0];
      if (!counts) violation(actor, `${how} of ${res}, which counts on entry ${claims.seq} of a removed manager`);
    }
  };

  const chainOf = (hash: string): string[] => (truth.chain(hash) ?? []).map((one) => one.hash);

  const checkKey = (actor: Actor, res: Res, state: StateThere, key: string, how: string): void => {
    const known = truth.keyOf(key);
    if (checkOf(key, res, state.ver) !== state.check)
      violation(actor, `${how} of ${res} with a key that entry ${state.entry.claims.seq} does not name`);
    if (known === undefined) violation(actor, `${how} of ${res} with a key that was never seen sealed`);
    for (const who of known?.knowers ?? []) {
      const end = state.dropped.get(who);
      if (end === undefined || state.holders.has(who) || (known?.ver ?? 0) >= end) continue;
      violation(actor, `${how} of ${res} with a key that ${who} knows, whose removal it has seen`);
    }
  };

  const uses = (actor: Actor, res: Res, key: string, how: string): void => {
    const state = stateOf(actor, res, how);
    if (state === undefined) return;
    checkForgeries(actor, res, state, how);
    checkKey(actor, res, state, key, how);
    if (!isAccepted(actor, res, state)) violation(actor, `${how} of ${res}, which it has not accepted`);
  };

  const isAccepted = (actor: Actor, res: Res, state: StateThere): boolean => {
    const founder = truth.chain(state.entry.hash)?.[0];
    if (actor.who.startsWith("user:")) return actor.accepted.has(res) || founder?.claims.by === actor.who;
    if (founder?.forgery === undefined) return true;
    const by = founder.claims.by as Who;
    return Object.keys(actor.record().resources).some((name) => {
      const other = name as Res; // a record has the names of histories
      const pin = actor.record().resources[other]?.pin;
      const states = other === res || pin === undefined ? [] : [truth.stateAt(pin.hash), truth.newest(other)];
      return states.some((known) => known?.holders.get(by)?.perm === "manage");
    });
  };

  /** Opens a sealed value; undefined, with a violation, if it is sealed to another key. */
  const opened = async (actor: Actor, res: Res, who: Who, sealed: string): Promise<string | undefined> => {
    const id = res.slice(res.indexOf(":") + 1);
    const identity = identities.get(who);
    const isVault = res.startsWith("vault:");
    const context = isVault ? contexts.vaultKey(id) : contexts.sharedFolderKey(id);
    const boxed = isVault ? contexts.vaultKey(id) : contexts.folderKey(id);
    if (identity !== undefined) {
      const own = sealed.includes(".")
        ? openSealed(identity.privateKey, sealed, context)
        : unboxBound(identity.userKey ?? new Uint8Array(32), sealed, boxed);
      const key = await own.catch(() => undefined);
      if (key !== undefined) return encodeBase64(key);
    }
    for (const { privateKey } of strangers) {
      const key = await openSealed(privateKey, sealed, context).catch(() => undefined);
      if (key !== undefined) violation(actor, `it seals a key of ${res} for ${who} to the attacker's public key`);
    }
    violation(actor, `it seals a key of ${res} for ${who} to a key that is not theirs`);
    return undefined;
  };

  /** A key that an actor seals for a holder. `entry` is signed with it. */
  const seals = async (
    actor: Actor,
    res: Res,
    who: Who,
    sealed: unknown,
    entry: KnownEntry | undefined,
    how: string,
  ): Promise<void> => {
    if (typeof sealed !== "string") return;
    const before = stateOf(actor, res, how);
    const key = await opened(actor, res, who, sealed);
    if (before === undefined || key === undefined) return;
    const state = (entry === undefined ? undefined : truth.stateAt(entry.hash)) ?? before;
    checkForgeries(actor, res, before, how);
    const holder = state.holders.get(who);
    if (holder?.key !== identities.get(who)?.publicKey)
      violation(actor, `${how} of ${res} for ${who}, without a manager's entry`);
    const organization = organizationOf(actor, state);
    if (who.startsWith("user:") && organization?.holders.get(who)?.key !== holder?.key)
      violation(actor, `${how} of ${res} for ${who}, unknown to the organization`);
    if (checkOf(key, res, state.ver) !== state.check)
      violation(actor, `${how} of ${res}: a key that entry ${state.entry.claims.seq} does not name`);
    truth.noteKey(key, res, state.ver, who);
    truth.sealed.set(sealedName(res, state.ver, who), { encrypted_key: sealed, encrypted_key_alg: algorithm(sealed) });
    checkKey(actor, res, state, key, how);
  };

  /** A secret or record that an actor writes. `opens` tests a key (base64). */
  const writes = async (
    actor: Actor,
    res: Res,
    uid: string,
    opens: (key: Uint8Array) => Promise<unknown>,
  ): Promise<(answer: Body) => void> => {
    const own = truth.personal.get(res);
    const state = own === undefined ? stateOf(actor, res, "it writes a secret") : undefined;
    for (const { key } of truth.keysOf(res)) {
      const opened = await opens(decodeBase64(key)).catch(() => undefined);
      if (opened === undefined) continue;
      if (own !== undefined && key !== own) violation(actor, `it writes into the personal ${res} under another key`);
      if (state !== undefined) uses(actor, res, key, "it writes a secret");
      const written = writing.get(actor);
      if (written === undefined) return () => undefined;
      truth.values.set(written.value, { res, title: written.title, forgedUnder: undefined });
      return (answer) => {
        const secrets = truth.secrets.get(res) ?? new Map<string, { title: string; version: number; value: string }>();
        truth.secrets.set(res, secrets);
        const version = versionOf(answer);
        if ((secrets.get(uid)?.version ?? 0) < version) secrets.set(uid, { ...written, version });
      };
    }
    violation(actor, `it writes a secret of ${res} under a key that was never seen sealed`);
    return () => undefined;
  };

  /** The key that a person makes with a folder or shared vault. */
  const makes = async (actor: Actor, body: Body, entry: KnownEntry | undefined): Promise<void> => {
    if (entry === undefined) return;
    const { res } = entry.claims;
    const sealed = String(body["encrypted_key"]);
    const id = res.slice(res.indexOf(":") + 1);
    const context = res.startsWith("vault:") ? contexts.vaultKey(id) : contexts.folderKey(id);
    const key = encodeBase64(await unboxBound(actor.userKey ?? new Uint8Array(32), sealed, context));
    truth.noteKey(key, res, 1, actor.who);
    truth.sealed.set(sealedName(res, 1, actor.who), { encrypted_key: sealed, encrypted_key_alg: "box-user" });
    if (checkOf(key, res, 1) !== entry.claims.check) violation(actor, `it makes ${res} with another key than it signs`);
  };

  const makesPersonal = async (actor: Actor, body: Body): Promise<() => void> => {
    const id = String(body["id"]);
    const opened = unboxBound(
      actor.userKey ?? new Uint8Array(32),
      String(body["encrypted_key"]),
      contexts.ownVaultKey(id),
    );
    const key = encodeBase64(await opened);
    truth.noteKey(key, `vault:${id}`, 1, actor.who);
    return () => void truth.personal.set(`vault:${id}`, key);
  };

  const invites = (body: Body): void => {
    for (const one of (body["folders"] ?? []) as Body[]) {
      const res: Res = `folder:${String(one["folder_id"])}`;
      const tag: Who = `client:${String(body["token_hash"])}`;
      const sealed = String(one["encrypted_folder_key"]);
      truth.sealed.set(sealedName(res, Number(one["key_version"]), tag), {
        encrypted_key: sealed,
        encrypted_key_alg: "box-token",
      });
    }
  };

  return {
    violations,
    violation,
    uses,
    reads(actor, res, title, value) {
      const known = truth.values.get(value);
      if (known?.res !== res || known.title !== title) {
        violation(actor, `it reads a value of ${res} that no honest actor wrote there`);
        return;
      }
      if (known.forgedUnder !== undefined) uses(actor, res, known.forgedUnder, "it reads what the attacker wrote");
    },
    async observe(actor, { method, pathname, body }) {
      const texts = [body["entry"], ...((body["folders"] ?? []) as Body[]).map((one) => one["entry"])];
      const entries = texts.filter((text) => typeof text === "string").map((text) => truth.note(text));
      const [entry] = entries;
      const done: ((answer: Body) => void)[] = entries.map((one) => () => truth.accept(one));
      const folder = folderAt.exec(pathname)?.[1];
      const person = grantOfPerson.exec(pathname);
      const machine = grantOfMachine.exec(pathname);
      const rotated = rotation.exec(pathname);
      const record = recordAt.exec(pathname);
      const pinned = vaultPin.exec(pathname)?.[1];
      if (method === "PUT" && person !== null)
        await seals(actor, named(person), `user:${person[4] ?? ""}`, body["encrypted_key"], entry, "it seals a key");
      else if (method === "PUT" && machine !== null) {
        const [, id = "", folderId = ""] = machine;
        await seals(actor, `folder:${folderId}`, `client:${id}`, body["encrypted_key"], entry, "it seals a key");
      } else if (method === "POST" && rotated !== null) {
        const { users, clients = [] } = body["encrypted_keys"] as { users: Body[]; clients?: Body[] };
        const sealedKeys: [Who, unknown][] = [
          ...users.map((one): [Who, unknown] => [`user:${String(one["user_id"])}`, one["encrypted_key"]]),
          ...clients.map((one): [Who, unknown] => [`client:${String(one["client_id"])}`, one["encrypted_key"]]),
        ];
        for (const [who, sealed] of sealedKeys)
          await seals(actor, named(rotated), who, sealed, entry, "it rotates the key");
      } else if (method === "POST" && (pathname === "/api/org/folders" || pathname === "/api/vaults")) {
        if (body["type"] === "personal") done.push(await makesPersonal(actor, body));
        else await makes(actor, body, entry);
      } else if (method === "POST" && pathname.endsWith("/tokens")) invites(body);
      else if (method === "PUT" && pathname === "/api/account/keyring") done.push(await keyring(actor, body));
      else if (method === "PUT" && pinned !== undefined) done.push(await tellsPin(actor, pinned, body));
      else if ((method === "POST" || method === "PUT") && record !== null) {
        const [, id = "", recordId = String(body["id"])] = record;
        const opens = (key: Uint8Array): Promise<unknown> =>
          unboxBound(key, String(body["encrypted_data"]), contexts.record(id, recordId));
        done.push(await writes(actor, `vault:${id}`, recordId, opens));
      } else if ((method === "POST" || method === "PUT") && /\/secrets(\/[^/]+)?$/.test(pathname)) {
        const uid = method === "POST" ? String(body["uid"]) : (pathname.split("/").at(-1) ?? "");
        const inFolder = method === "POST" ? String(body["folder_id"]) : folder;
        const res = inFolder === undefined ? folderOfSecret(uid) : (`folder:${inFolder}` as const);
        const opens = (key: Uint8Array): Promise<unknown> =>
          unboxBound(key, String(body["wrapped_dek"]), contexts.dek(uid));
        if (res !== undefined) done.push(await writes(actor, res, uid, opens));
      }
      const removed = method === "DELETE" ? /^\/api\/org\/members\/([^/]+)$/.exec(pathname)?.[1] : undefined;
      return (answer) => {
        for (const one of done) one(answer);
        if (removed !== undefined) truth.removed.add(`user:${removed}`);
        if (pathname === "/api/sm/v1/bootstrap") truth.begun.add(`client:${String(body["client_id"])}`);
      };
    },
    inspect(actor) {
      actor.givesUp.clear();
      const record = actor.record();
      for (const [name, { pin, expect }] of Object.entries(record.resources)) {
        const res = name as Res; // a record has the names of histories
        const chain = chainOf(pin.hash);
        const state = truth.stateAt(pin.hash);
        if (chain.length === 0 || state === undefined) {
          violation(actor, `it pins an entry of ${res} that no actor made`);
          continue;
        }
        for (const { claims, forgery } of state.forgeries)
          if (forgery?.kind === "never")
            violation(actor, `it pins ${res} after a forged entry ${claims.seq}: ${forgery.what}`);
        const seen = actor.seen.get(res) ?? [];
        if (expect !== undefined) {
          // Its other device's pins are ahead of its own verified ones.
          actor.seen.set(res, [...new Set([...seen, ...[pin, ...expect].map(({ hash }) => hash)])]);
          continue;
        }
        for (const hash of seen.filter((one) => !chain.includes(one)))
          violation(
            actor,
            `it has given up entry ${truth.entry(hash)?.claims.seq ?? "?"} of ${res} for another history`,
          );
        actor.seen.set(res, [pin.hash]);
        learnPin(actor, res);
      }
      for (const res of actor.seen.keys())
        if (record.resources[res] === undefined) violation(actor, `it has forgotten the history ${res}`);
      if (record.keyring < actor.seenKeyring)
        violation(actor, `it has gone back to version ${record.keyring} of the keyring`);
      if (record.keyring > actor.seenKeyring && !actor.sentKeyrings.has(record.keyring)) learn(actor, record.keyring);
      actor.seenKeyring = record.keyring;
    },
    forgives(actor, res) {
      actor.givesUp.add(res);
      if (res !== undefined) return void actor.seen.delete(res);
      actor.seen.clear();
      actor.seenKeyring = 0;
    },
  };

  function folderOfSecret(uid: string): Res | undefined {
    return [...truth.secrets].find(([, secrets]) => secrets.has(uid))?.[0];
  }

  async function keyring(actor: Actor, body: Body): Promise<() => void> {
    const version = Number(body["version"]);
    const sealed = String(body["sealed"]);
    const userId = actor.who.slice("user:".length);
    const text = await unboxBound(actor.userKey ?? new Uint8Array(32), sealed, contexts.keyring(userId, version));
    const { pins } = JSON.parse(Buffer.from(text).toString()) as { pins: Record<string, [number, string]> };
    const versions = truth.keyrings.get(actor.who) ?? new Map<number, { pins: typeof pins; sealed: string }>();
    truth.keyrings.set(actor.who, versions);
    return () => {
      // The service promised this number to this device, so it never read another device's version.
      if (!actor.sentKeyrings.has(version - 1)) requirePins(actor, versions.get(version - 1)?.pins ?? {}, pins);
      versions.set(version, { pins, sealed });
      truth.keyringVersion.set(actor.who, version);
    };
  }

  /** The pin of a vault that a person's device shares. */
  async function tellsPin(actor: Actor, id: string, body: Body): Promise<() => void> {
    const version = Number(body["version"]);
    const context = contexts.vaultPin(id, version);
    const text = await unboxBound(actor.userKey ?? new Uint8Array(32), String(body["sealed"]), context);
    const { pin: head } = JSON.parse(Buffer.from(text).toString()) as { pin: [number, string] };
    const name = `${actor.who} vault:${id}`;
    return () => {
      truth.vaultPins.set(`${name} ${version}`, head);
      truth.vaultPinVersion.set(name, version);
    };
  }

  /** The device that applied a vault's pin must store it. */
  function learnPin(actor: Actor, res: Res): void {
    const here = actor.record().resources[res];
    const name = `${actor.who} ${res} ${here?.pin_version ?? 0}`;
    const [seq, hash] = truth.vaultPins.get(name) ?? [];
    if (seq === undefined || here === undefined || actor.sentPins.has(name)) return;
    if (!knows(here, seq, hash)) violation(actor, `the pin of ${res} knows entry ${seq}, and it does not store that`);
  }

  /** A new version of a keyring has all pins of the former one. */
  function requirePins(
    actor: Actor,
    before: Record<string, [number, string]>,
    after: Record<string, [number, string]>,
  ): void {
    for (const [name, [seq, hash]] of Object.entries(before)) {
      const res = name as Res; // a keyring has the names of histories
      if (actor.givesUp.has(res) || actor.givesUp.has(undefined)) continue;
      const now = after[res]?.[1];
      if (now === undefined || !chainOf(now).includes(hash))
        violation(actor, `it drops entry ${seq} of ${res} from the keyring`);
    }
  }

  /** The device that applied a keyring must store its pins. */
  function learn(actor: Actor, version: number): void {
    const { resources } = actor.record();
    for (const [name, [seq, hash]] of Object.entries(truth.keyrings.get(actor.who)?.get(version)?.pins ?? {})) {
      const here = resources[name];
      if (here === undefined || !knows(here, seq, hash))
        violation(actor, `version ${version} of the keyring knows entry ${seq} of ${name}, and it does not store that`);
    }
  }
}

/** The folder or vault that a path names. */
function named(path: RegExpExecArray): Res {
  return `${(path[1] ?? "vault") as "folder" | "vault"}:${path[3] ?? ""}`;
}

/** The version of a secret; of a record the time of its change in microseconds. */
function versionOf({ version, updated_at: at }: Body): number {
  if (typeof version === "number") return version;
  return typeof at === "string" ? Date.parse(at) * 1000 + Number(at.slice(-4, -1)) : 1;
}

function algorithm(sealed: string): string {
  return sealed.includes(".") ? "jwe" : "box-user";
}

/** Whether a device has verified an entry or a later one, or expects it. */
function knows({ pin, expect = [] }: Pick<Trusted, "pin" | "expect">, seq: number, hash: string | undefined): boolean {
  const same = [pin, ...expect].find((one) => one.seq === seq);
  return same === undefined ? newestPin({ pin, expect }).seq > seq : same.hash === hash;
}
