import { contexts } from "@coffer/crypto";
import { CofferError } from "../errors.ts";
import { type SealableKey, sealMissing } from "../histories/seal-missing.ts";
import { isUuid, requireRequested } from "../http/require-requested.ts";
import { type ApiAnswer, type ApiRequest, defaultMaxWaitSeconds, type Send } from "../http/transport.ts";
import type { PersonSession } from "../people/person-session.ts";
import { dataOf, namedItems } from "../http/list-answer.ts";
import { type AcceptOffer, acceptOffer, offerOf } from "../trust/offer.ts";
import type { PersonTrust } from "../trust/person-trust.ts";
import { trustedVault } from "../trust/trusted-vault.ts";
import { type OpenVault, vaultOf } from "./open-vault.ts";
import { vaultPath } from "./vault-path.ts";
import type { VaultMemberView, VaultView } from "./views.ts";

/** Accesses vaults as a person, and caches their opened keys in memory. */
export interface VaultStore {
  send(request: ApiRequest): Promise<ApiAnswer>;
  /** All vaults of the caller, from the service. */
  list(): Promise<OpenVault[]>;
  /**
   * One vault from the cache, or from the service if its cached key may not be used any more.
   * Throws CofferError `not_found`, `access_denied`.
   */
  one(id: string): Promise<OpenVault>;
  /** One vault with its history from the service. Throws like `one`. */
  fresh(id: string): Promise<OpenVault>;
  /**
   * One vault to read. Queries the service when its key was unusable, and asks the caller about one
   * that is not accepted yet.
   */
  toRead(id: string): Promise<OpenVault>;
  /**
   * One vault to write into, with the newest key. Asks the caller like `toRead`. Throws like `one`.
   */
  toWrite(id: string): Promise<OpenVault>;
  /** A vault from a response. */
  seen(view: VaultView): Promise<OpenVault>;
  /** A vault from this device's storage. Makes no request while the device knows enough. */
  stored(view: VaultView): Promise<OpenVault>;
  /**
   * One vault from the cache. Undefined when it is not cached, or when its key may not be used any
   * more by what was learned since.
   */
  cached(id: string): Promise<OpenVault | undefined>;
  /**
   * A vault as it was cached, to show it; undefined when it is not cached. Its key is not checked.
   */
  known(id: string): Omit<OpenVault, "key"> | undefined;
  forget(id: string): void;
  /**
   * Calls `listener` for each vault whose key becomes usable. Returns a function that unsubscribes.
   */
  onUsable(listener: (view: VaultView) => void): () => void;
  /** The longest single wait before a retry. */
  readonly maxWaitSeconds: number;
  /** Aborts every wait. */
  readonly signal: AbortSignal | undefined;
}

export interface VaultStoreOptions {
  /**
   * Called once when the caller uses a vault that another member shared. Without it that is
   * `not_accepted`.
   */
  accept?: AcceptOffer | undefined;
  maxWaitSeconds?: number | undefined;
  signal?: AbortSignal | undefined;
}

/** The `limit` of long lists: the service's maximum. */
const pageLimit = 1000;

export function vaultStore(
  send: Send,
  session: () => Promise<PersonSession>,
  trust: PersonTrust,
  { accept, maxWaitSeconds = defaultMaxWaitSeconds, signal }: VaultStoreOptions,
): VaultStore {
  const known = new Map<string, OpenVault>();
  const listeners = new Set<(view: VaultView) => void>();

  const cached = async (id: string): Promise<OpenVault | undefined> => {
    const held = known.get(id);
    if (held?.isStillTrusted === undefined || (await held.isStillTrusted())) return held;
    return undefined;
  };
  const open = async (view: VaultView, options?: { stored: boolean }): Promise<OpenVault> => {
    const opened = await trustedVault(view, trust, await session(), options);
    const before = known.get(view.id);
    // A view from before a rotation must not replace a newer one, if that has the newest key. A
    // service that shows an older history has gone back, and is not late.
    const isOlder = opened.keyError?.code === "key_rolled_back" && isBefore(view, before?.view);
    const isLate = isOlder && (before?.key ?? null) !== null;
    const newer = isLate ? await cached(view.id) : undefined;
    if (newer !== undefined) return newer;
    known.set(view.id, opened);
    if (before?.key === null && opened.key !== null) for (const listener of listeners) listener(view);
    return opened;
  };
  /**
   * Opens vaults, seals missing keys of those that the caller manages, and publishes pins to the
   * person's other devices.
   */
  const openAll = async (views: readonly VaultView[]): Promise<OpenVault[]> => {
    const opened = await Promise.all(views.map((view) => open(view)));
    for (const one of opened)
      if (one.vault.permission === "manage" && one.accepted === true)
        await sealMissing(send, trust.histories, sealableVault(send, one));
    await trust.share();
    return opened;
  };
  const once = async (id: string): Promise<OpenVault> => {
    const view = requireRequested<VaultView>(await send({ method: "GET", path: vaultPath(id) }), { id });
    return (await openAll([view]))[0] as OpenVault; // one for each view
  };
  const fresh = async (id: string): Promise<OpenVault> => {
    const opened = await once(id);
    // The view may be from just before a rotation, and its history from just after it.
    return opened.keyError?.code === "key_rolled_back" ? once(id) : opened;
  };
  /** The vault after the caller has accepted it, if so. */
  const accepted = async (vault: OpenVault): Promise<OpenVault> => {
    if (vault.keyError?.code !== "not_accepted" || accept === undefined || vault.verified?.removed === true)
      return vault;
    const res = `vault:${vault.vault.id}` as const;
    const offer = await offerOf(trust, res);
    if (!(await accept(offer))) return vault;
    await acceptOffer(trust, res, offer);
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
        // Queried again once there is a connection.
        const vault = { ...vaultOf(view), problem: error.code };
        known.set(view.id, { vault, view, key: null, keyError: error });
        return { vault, view, key: null, keyError: error };
      }
    },
    async list() {
      const views = namedItems<VaultView>(await allPages<unknown>(send, "/api/vaults"));
      return openAll(views.filter(({ id }) => isUuid(id)));
    },
    cached,
    one: async (id) => (await cached(id)) ?? fresh(id),
    async toRead(id) {
      const held = await cached(id);
      return isUsable(held) ? held : current(id);
    },
    async toWrite(id) {
      const held = await cached(id);
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

/**
 * The items of all pages of a list. Throws CofferError `bad_answer` for pages without end: one
 * without an item that names a next one, or a cursor that was named before.
 */
export async function allPages<Item>(send: Send, path: string, query: ApiRequest["query"] = {}): Promise<Item[]> {
  const items: Item[] = [];
  const cursors = new Set<string>();
  let cursor: string | undefined;
  for (;;) {
    const answer = await send({ method: "GET", path, query: { ...query, limit: pageLimit, cursor } });
    const page = dataOf<Item>(answer);
    for (const item of page) items.push(item);
    const { next_cursor: next } = answer.body as { next_cursor?: unknown };
    cursor = typeof next === "string" ? next : undefined;
    if (cursor === undefined) break;
    if (page.length === 0 || cursors.has(cursor))
      throw new CofferError("bad_answer", `the service shows pages of ${path} without end`, { status: answer.status });
    cursors.add(cursor);
  }
  return items;
}
