import { contexts } from "@coffer/crypto";
import { askedFor, isUuid } from "../asked-for.ts";
import { CofferError } from "../errors.ts";
import { acceptOffer, offerOf } from "../histories/offer.ts";
import type { AcceptOffer } from "../histories/offer.ts";
import type { PersonTrust } from "../histories/person-trust.ts";
import { sealMissing } from "../histories/seal-missing.ts";
import type { SealableKey } from "../histories/seal-missing.ts";
import { trustedVault } from "../histories/trusted-vault.ts";
import type { PersonSession } from "../person-session.ts";
import { dataOf, namedItems } from "../secret-store.ts";
import { defaultMaxWaitSeconds } from "../transport.ts";
import type { ApiAnswer, ApiRequest } from "../transport.ts";
import { vaultOf } from "./open-vault.ts";
import type { OpenVault } from "./open-vault.ts";
import { vaultPath } from "./vault-path.ts";
import type { VaultMemberView, VaultView } from "./views.ts";

/** Reaches vaults as a person, and holds their opened keys in memory. */
export interface VaultStore {
  send(request: ApiRequest): Promise<ApiAnswer>;
  /** All vaults of the caller, as the service knows them now. */
  list(): Promise<OpenVault[]>;
  /** One vault: as it was last seen, or else asked for. Throws CofferError `not_found`, `access_denied`. */
  one(id: string): Promise<OpenVault>;
  /** One vault as the service knows it now, with what its history says now. Throws as `one`. */
  fresh(id: string): Promise<OpenVault>;
  /** One vault to read: asked for again when its key could not be used, and the caller about one not accepted yet. */
  toRead(id: string): Promise<OpenVault>;
  /** One vault to write into: the newest key, and the caller is asked as by `toRead`. Throws as `one`. */
  toWrite(id: string): Promise<OpenVault>;
  /** A vault as an answer showed it. */
  seen(view: VaultView): Promise<OpenVault>;
  /** A vault as this device stored it: nothing is asked while the device knows enough. */
  stored(view: VaultView): Promise<OpenVault>;
  /** A vault as it was last seen, without a question to anybody; undefined for one that was not. */
  known(id: string): OpenVault | undefined;
  forget(id: string): void;
  /** Hears of each vault whose key can be used, and could not be when it was last seen. Returns what ends that. */
  onUsable(listener: (view: VaultView) => void): () => void;
  /** The longest single wait before something is sent again. */
  readonly maxWaitSeconds: number;
  /** Stops every wait. */
  readonly signal: AbortSignal | undefined;
}

export interface VaultStoreOptions {
  /** Asked when a vault is used that somebody gave the caller, once. Without it that is `not_accepted`. */
  accept?: AcceptOffer | undefined;
  maxWaitSeconds?: number | undefined;
  signal?: AbortSignal | undefined;
}

/** `limit` of lists that may be long: the most that the service gives in a page. */
const pageLimit = 1000;

export function vaultStore(
  send: (request: ApiRequest) => Promise<ApiAnswer>,
  session: () => Promise<PersonSession>,
  trust: PersonTrust,
  { accept, maxWaitSeconds = defaultMaxWaitSeconds, signal }: VaultStoreOptions,
): VaultStore {
  const known = new Map<string, OpenVault>();
  const listeners = new Set<(view: VaultView) => void>();

  const open = async (view: VaultView, options?: { stored: boolean }): Promise<OpenVault> => {
    const opened = await trustedVault(view, trust, await session(), options);
    const before = known.get(view.id);
    // A view from before a rotation says nothing of the vault after it.
    const isLate = opened.key === null && (before?.key ?? null) !== null && isBefore(view, before?.view);
    if (before !== undefined && isLate) return before;
    known.set(view.id, opened);
    if (before?.key === null && opened.key !== null) for (const listener of listeners) listener(view);
    return opened;
  };
  /** Opens vaults, seals missing keys of those that the caller manages, and tells the person's other devices. */
  const openAll = async (views: readonly VaultView[]): Promise<OpenVault[]> => {
    const opened = await Promise.all(views.map((view) => open(view)));
    for (const one of opened)
      if (one.vault.permission === "manage" && one.accepted === true)
        await sealMissing(send, trust.histories, sealableVault(send, one));
    await trust.share();
    return opened;
  };
  const once = async (id: string): Promise<OpenVault> => {
    const view = askedFor<VaultView>(await send({ method: "GET", path: vaultPath(id) }), { id });
    return (await openAll([view]))[0] as OpenVault; // one for each view
  };
  const fresh = async (id: string): Promise<OpenVault> => {
    const opened = await once(id);
    // The answer may be from just before a rotation, and its history from just after it.
    return opened.keyError?.code === "key_rolled_back" ? once(id) : opened;
  };
  /** The vault once it is accepted, when the caller says so. */
  const accepted = async (vault: OpenVault): Promise<OpenVault> => {
    if (vault.keyError?.code !== "not_accepted" || accept === undefined) return vault;
    const res = `vault:${vault.vault.id}` as const;
    if (!(await accept(await offerOf(trust, res)))) return vault;
    await acceptOffer(trust, res);
    return fresh(vault.vault.id);
  };
  const current = async (id: string): Promise<OpenVault> => accepted(await fresh(id));
  const isUsable = (vault: OpenVault | undefined): vault is OpenVault => vault !== undefined && vault.key !== null;

  return {
    send,
    maxWaitSeconds,
    signal,
    seen: async (view) => (await openAll([view]))[0] as OpenVault, // one for each view
    fresh,
    async stored(view) {
      try {
        return await open(view, { stored: true });
      } catch (error) {
        if (!(error instanceof CofferError)) throw error;
        // What cannot be asked now is asked once there is a connection.
        const vault = { ...vaultOf(view), problem: error.code };
        known.set(view.id, { vault, view, key: null, keyError: error });
        return { vault, view, key: null, keyError: error };
      }
    },
    async list() {
      const views = namedItems<VaultView>(await allPages<unknown>(send, "/api/vaults"));
      return openAll(views.filter(({ id }) => isUuid(id)));
    },
    one: async (id) => known.get(id) ?? fresh(id),
    async toRead(id) {
      const held = known.get(id);
      return isUsable(held) ? held : current(id);
    },
    async toWrite(id) {
      const held = known.get(id);
      // Nobody but its owner changes the key of a personal vault.
      return isUsable(held) && held.vault.type === "personal" ? held : current(id);
    },
    known: (id) => known.get(id),
    forget: (id) => void known.delete(id),
    onUsable(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
}

function isBefore({ key_version }: VaultView, other: VaultView | undefined): boolean {
  return other !== undefined && key_version < other.key_version;
}

/** A vault's key, for its members. */
function sealableVault(send: VaultStore["send"], { vault, key }: OpenVault): SealableKey {
  const { id, key_version: keyVersion } = vault;
  return {
    ...{ res: `vault:${id}`, key, keyVersion, context: contexts.vaultKey(id) },
    listed: () => listedMembers(send, id),
    pathOf: (_kind, userId) => Promise.resolve(memberPath(id, userId)),
  };
}

export const memberPath = (id: string, userId: string): string =>
  `${vaultPath(id)}/members/${encodeURIComponent(userId)}`;

/** The members of a vault as the service lists them. */
export async function listedMembers(
  send: VaultStore["send"],
  id: string,
): Promise<{ kind: "user"; id: string; name: string; has_key: boolean | undefined }[]> {
  const members = await allPages<VaultMemberView>(send, `${vaultPath(id)}/members`);
  return members.map(({ user_id, email, has_key }) => ({ kind: "user", id: user_id, name: email, has_key }));
}

/** The items of all pages of a list. */
export async function allPages<Item>(
  send: (request: ApiRequest) => Promise<ApiAnswer>,
  path: string,
  query: ApiRequest["query"] = {},
): Promise<Item[]> {
  const items: Item[] = [];
  let cursor: string | undefined;
  do {
    const answer = await send({ method: "GET", path, query: { ...query, limit: pageLimit, cursor } });
    items.push(...(dataOf(answer) as Item[]));
    const { next_cursor: next } = answer.body as { next_cursor?: unknown };
    cursor = typeof next === "string" && next !== cursor ? next : undefined;
  } while (cursor !== undefined);
  return items;
}
