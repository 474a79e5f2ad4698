import { contexts, decodeBase64, unboxBound } from "@coffer/crypto";
import { askedFor, isUuid } from "./asked-for.ts";
import type { CofferError } from "./errors.ts";
import type { Unsealing } from "./folder-key.ts";
import type { Histories } from "./histories/histories.ts";
import { machineHistories, machineSelf } from "./histories/machine-trust.ts";
import { memoryTrust, trustedIn } from "./histories/trust-storage.ts";
import type { TrustRecord, TrustStorage } from "./histories/trust-storage.ts";
import { trustedFolder } from "./histories/trusted-folder.ts";
import { trustOf } from "./machine-configuration.ts";
import type { ConfiguredFolder, MachineConfiguration } from "./machine-configuration.ts";
import { machineTokens } from "./machine-tokens.ts";
import { dataOf, namedItems } from "./secret-store.ts";
import type { OpenFolder, SecretStore } from "./secret-store.ts";
import type { ApiAnswer, ApiRequest, Transport } from "./transport.ts";
import type { FolderView, SecretView } from "./views.ts";

const root = "/api/sm/v1";
const foldersPath = `${root}/folders`;

export interface MachineStore extends SecretStore {
  readonly histories: Histories;
}

export interface MachineStoreOptions {
  /** Where the machine keeps what it trusts; in memory, from its configuration on, unless given. */
  trust?: TrustStorage | undefined;
  /** Unix milliseconds. */
  now?: (() => number) | undefined;
}

/** Reaches secrets as the machine that the configuration describes. */
export function machineStore(
  configuration: MachineConfiguration,
  transport: Transport,
  { trust = memoryTrust(trustOf(configuration)), now = Date.now }: MachineStoreOptions = {},
): MachineStore {
  const bearer = machineTokens(configuration, transport.url, now);
  let known = configuration.folders.map((folder) => rememberedFolder(folder, trustOf(configuration)));
  let away: CofferError | undefined;

  const send = async (request: ApiRequest): Promise<ApiAnswer> =>
    transport.send({ ...request, bearer: await bearer() });
  const histories = machineHistories(configuration, trust, send);

  const opened = async (answer: ApiAnswer): Promise<OpenFolder[]> => {
    const self = machineSelf(configuration);
    const unsealing = machineUnsealing(configuration, known);
    // A machine cannot see who its managers are but by their ids.
    const managers = (): Promise<string[]> => Promise.resolve([]);
    const views = namedItems<FolderView>(dataOf(answer)).filter(({ id }) => isUuid(id));
    const open = (view: FolderView): Promise<OpenFolder> =>
      trustedFolder(view, { histories, self, unsealing, managers });
    const folders = await Promise.all(views.map(async (view) => ({ view, folder: await open(view) })));
    // One that was given later is accepted by what the histories of the others say now.
    return Promise.all(folders.map(async ({ view, folder }) => (folder.trusted === false ? open(view) : folder)));
  };

  return {
    send,
    histories,
    async folders(fresh) {
      if (fresh) {
        const answer = await send({ method: "GET", path: foldersPath });
        known = await opened(answer);
        away = answer.away;
      }
      return known;
    },
    async keptFolders(fit) {
      const answer = await transport.kept?.(foldersPath);
      const folders = answer === undefined ? [] : await opened(answer);
      if (answer === undefined || !fit(folders)) return undefined;
      return (known = folders);
    },
    foldersAway: () => away,
    listPaths: () => [`${root}/secrets`],
    pathIn: () => `${root}/secrets`,
    async one(uid) {
      const path = `${root}/secrets/${encodeURIComponent(uid)}`;
      return askedFor<SecretView>(await send({ method: "GET", path }), { uid });
    },
    search: async (title) =>
      dataOf(await send({ method: "GET", path: `${root}/secrets/search`, query: { title } })) as SecretView[],
  };
}

/**
 * A machine's ways: what came with its one-time token opens with the token's wrap key, which it no longer has once it
 * has opened them; they are then the keys it remembers. Whether such a key is the present one, the history's check says.
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
 * A folder as the configuration has it, with its key when that is the one of the version that the history was at. Whether it
 * still is, the first answer says.
 */
function rememberedFolder(
  { id, name, permission, key_version, key }: ConfiguredFolder,
  trust: TrustRecord,
): OpenFolder {
  const { state, accepted } = trustedIn(trust, `folder:${id}`) ?? { state: null, accepted: false };
  if (state === null || !accepted) return { id, name, permission, keyVersion: undefined, key: null };
  const present = key !== null && key_version === state.ver;
  return {
    id,
    name: state.name,
    permission,
    keyVersion: present ? key_version : undefined,
    key: present ? decodeBase64(key) : null,
    historySeq: state.head.seq,
    trusted: true,
  };
}
