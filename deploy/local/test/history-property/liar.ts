import type { Random } from "@coffer/testkit";
import type { Actor } from "./actor.ts";
import type { Attacker } from "./attacker.ts";
import type { Sent, Body, Oracle } from "./oracle.ts";
import {
  crash,
  heads,
  holders,
  keyrings,
  lost,
  scrambled,
  sparingSecrets,
  swallowed,
  unavailable,
} from "./answer-lies.ts";
import {
  type Answered,
  asRecord,
  dataOf,
  folderList,
  historyPath,
  isGet,
  type Item,
  type Lie,
  oneRecord,
  recordList,
  secretList,
  vaultList,
  withViews,
} from "./lie.ts";
import { answerOf } from "./patience.ts";
import { checkOf, type KnownEntry, type Res, sealedName, type StateThere, type Truth, type Who } from "./truth.ts";

/** The proxy between the clients and the real service, which records everything. */
export interface Liar {
  /** The network of an actor. */
  fetchFor(actor: Actor): typeof fetch;
  /** Some lies for a deed of this actor, and its folder. */
  lies(random: Random, actor: Actor, deed: string, about: Res | undefined): Promise<Lie[]>;
  /** Continues a lie that deceived the actor, and no others. */
  goOn(actor: Actor): Promise<Lie[]>;
  /** The process ends before this request. */
  crash(after: number): Lie;
}

export interface LiarOptions {
  truth: Truth;
  oracle: Oracle;
  attacker: Attacker;
  org(): string;
  /** Whether a removed person still manages the folder by its history. */
  isExposed(res: Res): boolean;
  url: string;
}

/** The view of a folder or vault: a history, with its fields. */
interface Shown {
  chain: readonly KnownEntry[];
  view: Item;
  secrets: Item[] | undefined;
}

export function createLiar({ truth, oracle, attacker, org, isExposed, url }: LiarOptions): Liar {
  /** Earlier responses, by actor and path. */
  const answers = new Map<string, unknown[]>();
  /** Earlier secrets of each folder. */
  const secrets = new Map<Res, Item[][]>();

  const remember = (actor: Actor, { method, path, pathname }: Sent, { status, body }: Answered): void => {
    if (method !== "GET" || status !== 200) return;
    const name = `${actor.who} ${path}`;
    answers.set(name, [...(answers.get(name) ?? []), body].slice(-12));
    if (recordList.test(pathname)) {
      const res: Res = `vault:${recordList.exec(pathname)?.[1] ?? ""}`;
      // A record does not name its key.
      const ver = truth.newest(res)?.ver ?? 1;
      const items = dataOf(body).map((one) => ({ ...one, key_version: ver }));
      secrets.set(res, [...(secrets.get(res) ?? []), items].slice(-12));
    }
    if (!secretList.test(pathname)) return;
    for (const [id, items] of Object.entries(Object.groupBy(dataOf(body), (one) => String(one["folder_id"])))) {
      const res: Res = `folder:${id}`;
      secrets.set(res, [...(secrets.get(res) ?? []), items ?? []].slice(-12));
    }
  };

  const pageOf = (chain: readonly KnownEntry[], { query, body }: Sent): Body => {
    const after = Number(query.get("after") ?? body["after"] ?? -1);
    return { data: chain.slice(after + 1).map(({ text }) => text), history_seq: chain.length - 1 };
  };

  /** Shows one history, with its fields, as another one. */
  const showing = (name: string, res: Res, { chain, view, secrets: items }: Shown): Lie => ({
    name,
    after(sent, { body }) {
      const { pathname } = sent;
      const id = res.slice(res.indexOf(":") + 1);
      const history = sent.method === "GET" ? historyPath.exec(pathname) : null;
      const named = history?.[1] ?? history?.[2] ?? "";
      if (history !== null && named === (res.startsWith("org:") ? "" : id)) return pageOf(chain, sent);
      if (pathname === "/api/org/invites/history" && res.startsWith("org:")) return pageOf(chain, sent);
      if (pathname === "/api/org" && sent.method === "GET" && res.startsWith("org:"))
        return { ...(body as Item), history_seq: chain.length - 1 };
      const list = isGet(sent, secretList, pathname);
      if (list !== null && (list[1] === undefined || list[1] === id)) {
        const others = dataOf(body).filter((one) => one["folder_id"] !== id);
        const own = items ?? dataOf(body).filter((one) => one["folder_id"] === id);
        const { key_version, history_seq } = view;
        return { data: [...others, ...own.map((one) => ({ ...one, key_version, history_seq }))] };
      }
      const records = isGet(sent, recordList, pathname);
      if (records?.[1] === id && items !== undefined) return { ...(body as Item), data: items.map(asRecord) };
      const record = isGet(sent, oneRecord, pathname);
      const shown = record?.[1] === id ? items?.find((one) => one["id"] === record[2]) : undefined;
      if (shown !== undefined) return asRecord(shown);
      return withViews(sent, body, (one) => (one["id"] === id ? { ...one, ...view } : one));
    },
  });

  const viewAt = (res: Res, state: StateThere, who: Who): Item => {
    const sealed = truth.sealed.get(sealedName(res, state.ver, who));
    return {
      ...{ key_version: state.ver, history_seq: state.entry.claims.seq, name: state.name },
      ...(sealed ?? {}),
    };
  };

  const secretsAt = (res: Res, version: number): Item[] | undefined =>
    secrets.get(res)?.findLast((items) => items.every((one) => one["key_version"] === version));

  /** A folder or the organization at an earlier state. */
  const past = (random: Random, actor: Actor, res: Res): Lie | undefined => {
    const whole = truth.history(res);
    if (whole.length < 2) return undefined;
    const chain = whole.slice(0, 1 + random.below(whole.length - 1));
    const state = truth.stateAt(chain.at(-1)?.hash ?? "");
    if (state === undefined) return undefined;
    const shown = { chain, view: viewAt(res, state, actor.who), secrets: secretsAt(res, state.ver) };
    return showing(`${res} as it was at entry ${chain.length - 1}`, res, shown);
  };

  /** A history with another end, which the attacker signs. */
  const fork = async (random: Random, actor: Actor, res: Res): Promise<Lie | undefined> => {
    const whole = truth.history(res);
    if (whole.length === 0) return undefined;
    const pinned = actor.record().resources[res]?.pin.seq ?? 0;
    const least = random.below(3) === 0 ? 0 : Math.min(pinned, whole.length - 1);
    return forkAt(random, actor, res, least + random.below(whole.length - least), false);
  };

  /** As `forked`, after the last entry of a manager whose keys the attacker has now. */
  const forkByFormer = async (random: Random, actor: Actor, res: Res): Promise<Lie | undefined> => {
    const at = truth.history(res).findLastIndex(({ hash }) => {
      const state = truth.stateAt(hash);
      return state !== undefined && attacker.hasFormer(state);
    });
    return at === -1 ? undefined : forkAt(random, actor, res, at, true);
  };

  const forkAt = async (
    random: Random,
    actor: Actor,
    res: Res,
    at: number,
    byFormer: boolean,
  ): Promise<Lie | undefined> => {
    const base = truth.history(res).slice(0, at + 1);
    const before = truth.stateAt(base.at(-1)?.hash ?? "");
    const made = before === undefined ? undefined : attacker.forge(random, before, byFormer);
    if (made === undefined) return undefined;
    const chain = [...base, ...made.entries];
    const state = truth.stateAt(chain.at(-1)?.hash ?? "") ?? before;
    if (state === undefined) return undefined;
    const view = { ...viewAt(res, state, actor.who), history_seq: chain.length - 1 };
    let items = secretsAt(res, state.ver);
    if (made.key !== undefined) {
      const { key } = made;
      const encrypted_key = await attacker.sealTo(actor.publicKey, key, res);
      Object.assign(view, { encrypted_key, encrypted_key_alg: "jwe" });
      items = await forgedSecrets(key, res);
    }
    const what = `${res} from entry ${base.length} on: ${made.entries[0]?.forgery?.what ?? ""}`;
    return showing(what, res, { chain, view, secrets: items });
  };

  /** The organization at the actor's pin, without later entries. */
  const frozen = (actor: Actor): Lie | undefined => {
    const res: Res = `org:${org()}`;
    const pin = actor.record().resources[res]?.pin;
    const chain = pin === undefined || !truth.has(res, pin.hash) ? undefined : truth.chain(pin.hash);
    if (chain === undefined) return undefined;
    return showing(`${res} without what came after entry ${chain.length - 1}`, res, {
      chain,
      view: {},
      secrets: undefined,
    });
  };

  /** Continues a successful lie. */
  const held = async (actor: Actor, res: Res): Promise<Lie | undefined> => {
    const pin = actor.record().resources[res]?.pin;
    const [chain, state] = pin === undefined ? [] : [truth.chain(pin.hash), truth.stateAt(pin.hash)];
    if (pin === undefined || chain === undefined || state === undefined || truth.has(res, pin.hash)) return undefined;
    const view = { ...viewAt(res, state, actor.who), history_seq: chain.length - 1 };
    const key = truth.keysOf(res).find((one) => checkOf(one.key, res, state.ver) === state.check)?.key;
    if (key !== undefined)
      Object.assign(view, {
        encrypted_key: await attacker.sealTo(actor.publicKey, key, res),
        encrypted_key_alg: "jwe",
      });
    return showing(`${res} as it was shown before`, res, { chain, view, secrets: undefined });
  };

  /** Shows an entry that an honest manager signed and the service did not store. */
  const refused = (random: Random, actor: Actor, res: Res): Lie | undefined => {
    const pool = unstored.filter((one) => one.claims.res === res && !truth.has(res, one.hash));
    const last = pool.length === 0 ? undefined : random.pick(pool);
    const chain = last === undefined ? undefined : truth.chain(last.hash);
    const state = last === undefined ? undefined : truth.stateAt(last.hash);
    if (chain === undefined || state === undefined) return undefined;
    const shown = { chain, view: viewAt(res, state, actor.who), secrets: undefined };
    return showing(`${res} with an entry that was not stored`, res, shown);
  };
  const unstored: KnownEntry[] = [];

  const forgedSecrets = async (key: string, res: Res): Promise<Item[]> => {
    const present = secrets.get(res)?.at(-1) ?? [];
    if (res.startsWith("vault:"))
      return Promise.all(
        present.map(async (one) => ({ ...one, encrypted_data: await attacker.record(key, res, String(one["id"])) })),
      );
    const forged = present.map(async (one) => ({
      ...one,
      ...(await attacker.secret(key, res, String(one["title"]), String(one["uid"]))),
    }));
    return Promise.all(forged);
  };

  /** The key of a folder in another version, of another folder, or the attacker's. */
  const keys = async (random: Random, actor: Actor, res: Res): Promise<Lie> => {
    const state = truth.newest(res);
    const version = 1 + random.below(state?.ver ?? 1);
    const older = truth.sealed.get(sealedName(res, version, actor.who));
    const key = attacker.anyKey(random, res);
    const own = { encrypted_key: await attacker.sealTo(actor.publicKey, key, res), encrypted_key_alg: "jwe" };
    const sealed = older === undefined || random.below(2) === 0 ? own : older;
    const shift = random.pick([0, 0, 0, -1, 1]);
    const historySeq = random.pick([undefined, undefined, null, 0, 1, 1_000]);
    const keyVersion = random.below(2) === 0 ? version : undefined;
    return {
      name: `${sealed === older ? `version ${version}` : "another one"} as the key of ${res}`,
      after(sent, { body }) {
        const id = res.slice(res.indexOf(":") + 1);
        const change =
          (name: string, more: Item) =>
          (one: Item): Item =>
            one[name] !== id
              ? one
              : {
                  ...one,
                  ...more,
                  key_version: (keyVersion ?? Number(one["key_version"])) + shift,
                  ...(historySeq === undefined ? {} : { history_seq: historySeq }),
                };
        if (isGet(sent, secretList, sent.pathname) !== null) return { data: dataOf(body).map(change("folder_id", {})) };
        return withViews(sent, body, change("id", sealed));
      },
    };
  };

  /** Secrets that are sealed under a key that the attacker has. */
  const values = async (random: Random, res: Res): Promise<Lie> => {
    const key = attacker.anyKey(random, res);
    const forged = await forgedSecrets(key, res);
    const isNew = random.below(3) === 0;
    return {
      name: `forged secrets in ${res}`,
      after(sent, { body }) {
        const record = isGet(sent, oneRecord, sent.pathname);
        const one = forged.find(({ id }) => id === record?.[2]);
        if (record !== null)
          return one === undefined ? body : { ...(body as Item), encrypted_data: one["encrypted_data"] };
        const isRecords = isGet(sent, recordList, sent.pathname) !== null;
        if (!isRecords && isGet(sent, secretList, sent.pathname) === null) return body;
        const data = dataOf(body).map((item) => {
          const found = forged.find(({ uid, id }) => (isRecords ? id === item["id"] : uid === item["uid"])) ?? item;
          if (isRecords) return { ...item, encrypted_data: found["encrypted_data"] };
          const { title_encrypted, wrapped_dek, data_encrypted } = found;
          return { ...item, title_encrypted, wrapped_dek, data_encrypted };
        });
        return { ...(body as Item), data: isNew ? data.toReversed() : data };
      },
    };
  };

  /** An earlier response to the same request. */
  const replay = (random: Random, actor: Actor): Lie => {
    const chosen = [...answers.keys()].filter((name) => name.startsWith(`${actor.who} `) && random.below(2) === 0);
    const picks = new Map(chosen.map((name) => [name, random.pick(answers.get(name) ?? [])]));
    return {
      name: `earlier answers to ${picks.size} questions`,
      after: ({ method, path }, { body }) => (method === "GET" ? (picks.get(`${actor.who} ${path}`) ?? body) : body),
    };
  };

  /** A folder or vault that an accomplice has founded, under the name of one that the actor knows. */
  const offered = async (random: Random, actor: Actor): Promise<Lie | undefined> => {
    const kind = actor.who.startsWith("user:") && random.below(3) === 0 ? "vault" : "folder";
    const known = kind === "folder" ? truth.folders() : truth.vaults();
    if (known.length === 0) return undefined;
    const name = truth.newest(random.pick(known))?.name ?? "";
    const identity = { who: actor.who, publicKey: actor.publicKey, privateKey: actor.privateKey };
    const { res, entry, key } = attacker.found(random, kind, org(), name, identity);
    const id = res.slice(res.indexOf(":") + 1);
    const encrypted_key = await attacker.sealTo(actor.publicKey, key, res);
    const at = "2026-11-20T10:00:00.000000Z";
    const item = {
      ...{ id, name, permission: "write", key_version: 1, encrypted_key, encrypted_key_alg: "jwe", history_seq: 0 },
      ...{ created_at: at, updated_at: at },
      ...(kind === "folder" ? {} : { org_id: org(), type: "shared", record_count: 0, safe_for_travel: false }),
    };
    const first = random.below(2) === 0;
    return {
      name: `a ${kind} ${id} of an accomplice`,
      instead(sent) {
        const { method, pathname } = sent;
        if (method !== "GET") return undefined;
        const history = historyPath.exec(pathname);
        if ((history?.[1] ?? history?.[2]) === id) return { status: 200, headers: {}, body: pageOf([entry], sent) };
        return pathname === `/api/vaults/${id}` ? { status: 200, headers: {}, body: item } : undefined;
      },
      after(sent, { body }) {
        const list = kind === "folder" ? folderList : vaultList;
        if (isGet(sent, list, sent.pathname) === null) return body;
        return { ...(body as Item), data: first ? [item, ...dataOf(body)] : [...dataOf(body), item] };
      },
    };
  };

  /** Changes the shared pins of a vault, its type, or hides it. */
  const vaultViews = (random: Random, actor: Actor, res: Res): Lie => {
    const versions = [...truth.vaultPins.keys()].filter((name) => name.startsWith(`${actor.who} ${res} `));
    const kind = random.pick(["older pin", "no pin", "other type", "hidden"]);
    const pins = [...sealedPins].filter(([name]) => versions.includes(name));
    const pin = pins.length === 0 ? null : random.pick(pins)[1];
    const id = res.slice("vault:".length);
    return {
      name: `${res} with ${kind}`,
      after(sent, { body }) {
        if (kind === "hidden" && isGet(sent, vaultList, sent.pathname) !== null)
          return { ...(body as Item), data: dataOf(body).filter((one) => one["id"] !== id) };
        return withViews(sent, body, (one) => {
          if (one["id"] !== id) return one;
          if (kind === "other type") return { ...one, type: one["type"] === "shared" ? "personal" : "shared" };
          return { ...one, sealed_pin: kind === "older pin" ? pin : null };
        });
      },
    };
  };
  const sealedPins = new Map<string, unknown>();

  /** Records the pins that a device has shared. */
  const recordPins = (actor: Actor, { pathname, body }: Sent): void => {
    const version = Number(body["version"]);
    const pinned = /^\/api\/vaults\/([^/]+)\/pin$/.exec(pathname)?.[1];
    if (pathname === "/api/account/keyring") actor.sentKeyrings.add(version);
    if (pinned === undefined) return;
    const name = `${actor.who} vault:${pinned} ${version}`;
    actor.sentPins.add(name);
    sealedPins.set(name, body);
  };

  const knownTo = (actor: Actor): Res[] => {
    const own = Object.keys(actor.record().resources).filter((res) => truth.history(res as Res).length > 0);
    return own.filter((res) => !res.startsWith("org:")) as Res[];
  };

  return {
    crash,
    async goOn(actor) {
      const lies = await Promise.all(knownTo(actor).map((res) => held(actor, res)));
      return lies.filter((lie) => lie !== undefined);
    },
    async lies(random, actor, deed, about) {
      const kinds: (() => Promise<Lie | undefined> | Lie | undefined)[] = [
        () => replay(random, actor),
        () => scrambled(random),
        () => holders(random, attacker, deed),
        () => holders(random, attacker, deed),
        () => keyrings(random, truth, actor),
        () => heads(random),
        () => lost(random),
        () => swallowed(random),
        () => unavailable(random),
        () => past(random, actor, `org:${org()}`),
        () => fork(random, actor, `org:${org()}`),
      ];
      const add = (times: number, kind: () => Promise<Lie | undefined> | Lie | undefined): void =>
        void kinds.push(...Array.from({ length: times }, () => kind));
      const isMachine = actor.who.startsWith("client:");
      // A machine has no key before it begins.
      add(actor.publicKey === "" ? 0 : isMachine ? 5 : 1, () => offered(random, actor));
      add(deed === "rotate" ? 4 : 0, () => holders(random, attacker, deed));
      const folders = knownTo(actor);
      if (folders.length > 0) {
        // A folder that a removed person still manages has the most to gain.
        const exposed = folders.filter(isExposed);
        const isKnown = about !== undefined && folders.includes(about) && random.below(3) > 0;
        const res = isKnown ? about : random.pick(exposed.length > 0 && random.below(3) > 0 ? exposed : folders);
        add(2, () => past(random, actor, res));
        add(3, () => fork(random, actor, res));
        add(isExposed(res) ? 12 : 1, () => forkByFormer(random, actor, res));
        add(2, () => keys(random, actor, res));
        add(1, () => refused(random, actor, res));
        if (res.startsWith("vault:")) add(3, () => vaultViews(random, actor, res));
        // A rotation under a true key would seal the attacker's values again.
        add(deed === "rotate" ? 0 : 2, () => values(random, res));
      }
      const chosen: Lie[] = [];
      for (let count = random.pick([1, 1, 2, 3]); count > 0; count -= 1) {
        const lie = await random.pick(kinds)();
        if (lie !== undefined) chosen.push(lie);
      }
      if (chosen.some(({ name }) => name.includes("former manager")) && random.below(3) > 0) {
        const lie = frozen(actor);
        if (lie !== undefined) chosen.push(lie);
      }
      for (const res of folders) {
        const lie = random.below(6) > 0 ? await held(actor, res) : undefined;
        if (lie !== undefined) chosen.push(lie);
      }
      return deed === "rotate" ? chosen.map(sparingSecrets) : chosen;
    },
    fetchFor: (actor) => async (input, init) => {
      const sent = sentOf(input as string, init, url);
      const done = await oracle.observe(actor, sent);
      const { lies } = actor;
      let answered: Answered | undefined;
      for (const lie of lies) answered ??= lie.instead?.(sent);
      if (answered === undefined) {
        answered = await reached(input as string, init, lies.length > 0);
        if (answered.status >= 200 && answered.status < 300) done((answered.body ?? {}) as Body);
        remember(actor, sent, answered);
      } else if (answered.status === 200 && typeof sent.body["entry"] === "string") {
        unstored.push(truth.note(sent.body["entry"]));
      }
      if (sent.method === "PUT" && answered.status === 200) recordPins(actor, sent);
      if (answered.status === 409 && typeof sent.body["entry"] === "string")
        unstored.push(truth.note(sent.body["entry"]));
      for (const lie of lies)
        if (lie.after !== undefined) answered = { ...answered, body: await lie.after(sent, answered) };
      const { status, headers, body } = answered;
      const text = body === undefined || status === 204 || status === 304 ? null : JSON.stringify(body);
      return new Response(text, { status, headers: { "content-type": "application/json", ...headers } });
    },
  };
}

function sentOf(input: string, init: RequestInit | undefined, url: string): Sent {
  const parsed = new URL(input);
  const text = typeof init?.body === "string" ? init.body : "";
  return {
    method: init?.method ?? "GET",
    path: input.slice(url.length),
    pathname: parsed.pathname,
    query: parsed.searchParams,
    headers: (init?.headers ?? {}) as Record<string, string>,
    body: (text === "" ? {} : JSON.parse(text)) as Body,
  };
}

async function reached(input: string, init: RequestInit | undefined, lying: boolean): Promise<Answered> {
  const headers = { ...((init?.headers ?? {}) as Record<string, string>) };
  // An unchanged response has no body to change.
  if (lying) delete headers["if-none-match"];
  const response = await answerOf(() => fetch(input, { ...init, headers }));
  const text = await response.text();
  const answered = ["etag", "retry-after", "date"].flatMap((name) => {
    const value = lying && name === "etag" ? null : response.headers.get(name);
    return value === null ? [] : [[name, value] as const];
  });
  return {
    status: response.status,
    headers: Object.fromEntries(answered),
    body: text === "" ? undefined : (JSON.parse(text) as unknown),
  };
}
