import { contexts, decodeBase64, unboxBound } from "@coffer/crypto";
import { CofferError } from "../errors.ts";
import type { Unsealing } from "../folders/folder-key.ts";
import { joinFolders } from "../histories/join-folders.ts";
import type { Self } from "../histories/self.ts";
import { isUuid, requireRequested } from "../http/require-requested.ts";
import type { ApiAnswer, ApiRequest, Transport } from "../http/transport.ts";
import { dataOf, foldersOf } from "../http/list-answer.ts";
import type { OpenFolder, SecretStore } from "../secrets/secret-store.ts";
import { machineHistories, machineSelf } from "../trust/machine-trust.ts";
import { memoryTrust, trustedIn, type TrustRecord, type TrustStorage } from "../trust/trust-storage.ts";
import { areStillTrusted, checkedAgain, openedLast, trustedFolder } from "../trust/trusted-folder.ts";
import type { FolderView, SecretView } from "../views.ts";
import { type ConfiguredFolder, type MachineConfiguration, trustOf } from "./machine-configuration.ts";
import { machineTokens } from "./machine-tokens.ts";

const root = "/api/sm/v1";
const foldersPath = `${root}/folders`;

export interface MachineStoreOptions {
  /**
   * The storage of the machine's pins. By default they start from its configuration and stay in
   * memory.
   */
  trust?: TrustStorage | undefined;
  /** Unix milliseconds. */
  now?: (() => number) | undefined;
}

/** Accesses secrets as the machine of the configuration. */
export function machineStore(
  configuration: MachineConfiguration,
  transport: Transport,
  { trust = memoryTrust(trustOf(configuration)), now = Date.now }: MachineStoreOptions = {},
): SecretStore {
  const bearer = machineTokens(configuration, transport.url, now);
  let away: CofferError | undefined;

  const send = async (request: ApiRequest): Promise<ApiAnswer> =>
    transport.send({ ...request, bearer: await bearer() });
  const histories = machineHistories(configuration, trust, send);
  const self = (): Promise<Self> => Promise.resolve(machineSelf(configuration));
  let known = configuration.folders.map((folder) =>
    checkedAgain(rememberedFolder(folder, trustOf(configuration)), { histories, self }),
  );

  const opened = async (answer: ApiAnswer): Promise<OpenFolder[]> => {
    const unsealing = machineUnsealing(configuration, known);
    // A machine knows managers only by their ids.
    const managers = (): Promise<string[]> => Promise.resolve([]);
    const views = foldersOf<FolderView>(answer).filter(({ id }) => isUuid(id));
    const by = { histories, self: await self(), unsealing, managers };
    const before = await histories.record();
    const isAccepted = ({ id }: FolderView): boolean => trustedIn(before, `folder:${id}`)?.accepted === true;
    const folders = new Map<string, OpenFolder>();
    const open = async (some: readonly FolderView[]): Promise<void> => {
      await Promise.all(some.map(async (view) => folders.set(view.id, await trustedFolder(view, by))));
    };
    // The machine's folders first: their newest entries say who may give it others.
    await open(views.filter(isAccepted));
    await joinLate(views, configuration, histories, send);
    await open(views.filter((view) => !isAccepted(view)));
    await open(views.filter(({ id }) => folders.get(id)?.trusted === false));
    return views.flatMap(({ id }) => folders.get(id) ?? []);
  };

  return {
    send,
    caller: "machine",
    histories,
    async folders(fresh) {
      if (fresh || !(await areStillTrusted(known)))
        known = await openedLast(async () => {
          const answer = await send({ method: "GET", path: foldersPath });
          const folders = await opened(answer);
          away = answer.away;
          return folders;
        });
      return known;
    },
    async storedFolders(fit) {
      const answer = await transport.stored?.(foldersPath);
      const folders = answer === undefined ? [] : await opened(answer);
      if (answer === undefined || !fit(folders) || !(await areStillTrusted(folders))) return undefined;
      return (known = folders);
    },
    foldersAway: () => away,
    listPaths: () => [`${root}/secrets`],
    pathIn: () => `${root}/secrets`,
    async one(uid) {
      const path = `${root}/secrets/${encodeURIComponent(uid)}`;
      return requireRequested<SecretView>(await send({ method: "GET", path }), { uid });
    },
    search: async (title) =>
      dataOf<SecretView>(await send({ method: "GET", path: `${root}/secrets/search`, query: { title } })),
  };
}

/**
 * Joins histories that the service did not show at the bootstrap, while the configuration has the
 * token. Errors surface when the folder is opened.
 */
async function joinLate(...joining: Parameters<typeof joinFolders>): Promise<void> {
  try {
    await joinFolders(...joining);
  } catch (error) {
    if (!(error instanceof CofferError)) throw error;
  }
}

/**
 * A machine's keys from its one-time token open with the token's wrap key. After the bootstrap the
 * machine has only the opened keys. The history's check decides whether such a key is the current
 * one.
 */
function machineUnsealing(configuration: MachineConfiguration, known: readonly OpenFolder[]): Unsealing {
  return {
    box(alg, id, sealed) {
      if (alg !== "box-token") return undefined;
      if (configuration.wrap_key !== undefined)
        return unboxBound(decodeBase64(configuration.wrap_key), sealed, contexts.sharedFolderKey(id));
      const key = known.find((folder) => folder.id === id)?.key ?? configuredKey(configuration, id);
      return key === undefined ? undefined : Promise.resolve(key);
    },
    privateKey: () => Promise.resolve(decodeBase64(configuration.private_key)),
  };
}

function configuredKey({ folders }: MachineConfiguration, id: string): Uint8Array | undefined {
  const key = folders.find((folder) => folder.id === id)?.key ?? undefined;
  return key === undefined ? undefined : decodeBase64(key);
}

/**
 * A folder from the configuration, with its key if the key has the version of the stored history.
 * The first response shows whether it still is.
 */
function rememberedFolder(
  { id, name, permission, key_version, key }: ConfiguredFolder,
  trust: TrustRecord,
): OpenFolder {
  const trusted = trustedIn(trust, `folder:${id}`);
  const state = trusted?.state ?? null;
  if (trusted?.accepted !== true || state === null) return { id, name, permission, keyVersion: undefined, key: null };
  const present = key !== null && key_version === state.ver;
  return {
    id,
    name: state.name,
    permission,
    keyVersion: present ? key_version : undefined,
    key: present ? decodeBase64(key) : null,
    historySeq: state.head.seq,
    trusted: true,
    verified: { ...trusted, state },
  };
}
