import { decodeBase64 } from "@coffer/crypto";
import { askedFor } from "../asked-for.ts";
import { CofferError } from "../errors.ts";
import type { PersonSession } from "../person-session.ts";
import { dataOf } from "../secret-store.ts";
import { defaultMaxWaitSeconds } from "../transport.ts";
import type { ApiAnswer, ApiRequest } from "../transport.ts";
import { vaultKeyMarks } from "./known-vault-keys.ts";
import type { KnownVaultKeys, VaultKeyMarks } from "./known-vault-keys.ts";
import { openVault, vaultOf } from "./open-vault.ts";
import type { OpenVault } from "./open-vault.ts";
import type { VaultView } from "./views.ts";

/** Reaches vaults as a person, and holds their opened keys in memory. */
export interface VaultStore {
  send(request: ApiRequest): Promise<ApiAnswer>;
  /** All vaults of the caller, as the service knows them now. */
  list(): Promise<OpenVault[]>;
  /** One vault: as it was last seen, or else asked for. Throws CofferError `not_found`, `access_denied`. */
  one(id: string): Promise<OpenVault>;
  /** One vault as the service knows it now. Throws as `one`. */
  fresh(id: string): Promise<OpenVault>;
  /** A vault as an answer showed it. */
  seen(view: VaultView): Promise<OpenVault>;
  forget(id: string): void;
  /** Which key each vault has, as far as was seen. */
  readonly keyMarks: VaultKeyMarks;
  /** The longest single wait before something is sent again. */
  readonly maxWaitSeconds: number;
  /** Stops every wait. */
  readonly signal: AbortSignal | undefined;
}

export interface VaultStoreOptions {
  /** Keeps between runs which key each vault has; within one it is known anyway. */
  knownVaultKeys?: KnownVaultKeys | undefined;
  maxWaitSeconds?: number | undefined;
  signal?: AbortSignal | undefined;
}

export const vaultPath = (id: string): string => `/api/vaults/${encodeURIComponent(id)}`;
export const recordPath = (vaultId: string, id: string): string =>
  `${vaultPath(vaultId)}/records/${encodeURIComponent(id)}`;

/** `limit` of lists that may be long: the most that the service gives in a page. */
const pageLimit = 1000;

export function vaultStore(
  send: (request: ApiRequest) => Promise<ApiAnswer>,
  session: () => Promise<PersonSession>,
  { knownVaultKeys, maxWaitSeconds = defaultMaxWaitSeconds, signal }: VaultStoreOptions,
): VaultStore {
  const known = new Map<string, OpenVault>();
  const keyMarks = vaultKeyMarks(knownVaultKeys);

  /**
   * A vault's key, unless it is another one than before: then the service could open what is sealed under it. Where that
   * cannot be known, or not be kept for the next time, it is not used either.
   */
  const open = async (view: VaultView): Promise<OpenVault> => {
    const person = await session();
    const opened = await openVault(view, person);
    if (opened.key === null) return opened;
    const { id, name } = opened.vault;
    let keyError = new CofferError(
      "not_decrypted",
      `the service hands out another key for the vault ${name} than before: it is not used`,
    );
    try {
      if (await keyMarks.isKnown(decodeBase64(person.user_key), id, opened.key)) return opened;
    } catch (cause) {
      const why = cause instanceof Error ? cause.message : "it failed";
      const what = `the key of the vault ${name} is not used, since it cannot be remembered for the next time: ${why}`;
      keyError = new CofferError("configuration", what, { cause });
    }
    return { ...opened, key: null, keyError };
  };

  const seen = async (view: VaultView): Promise<OpenVault> => {
    const held = known.get(view.id);
    const unchanged =
      held !== undefined &&
      held.key !== null &&
      held.view.encrypted_key === view.encrypted_key &&
      held.view.type === view.type;
    const opened = unchanged ? { ...held, view, vault: vaultOf(view) } : await open(view);
    known.set(view.id, opened);
    return opened;
  };
  const fresh = async (id: string): Promise<OpenVault> =>
    seen(askedFor<VaultView>(await send({ method: "GET", path: vaultPath(id) }), { id }));

  return {
    send,
    keyMarks,
    maxWaitSeconds,
    signal,
    seen,
    fresh,
    async list() {
      const views = await allPages<VaultView>(send, "/api/vaults");
      return Promise.all(views.map(seen));
    },
    one: async (id) => known.get(id) ?? fresh(id),
    forget: (id) => void known.delete(id),
  };
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
