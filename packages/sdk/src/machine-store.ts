import { contexts, decodeBase64, unboxBound } from "@coffer/crypto";
import { askedFor } from "./asked-for.ts";
import type { CofferError } from "./errors.ts";
import { openFolder } from "./folder-key.ts";
import type { Unsealing } from "./folder-key.ts";
import type { ConfiguredFolder, MachineConfiguration } from "./machine-configuration.ts";
import { machineTokens } from "./machine-tokens.ts";
import { dataOf } from "./secret-store.ts";
import type { OpenFolder, SecretStore } from "./secret-store.ts";
import type { ApiAnswer, ApiRequest, Transport } from "./transport.ts";
import type { FolderView, SecretView } from "./views.ts";

const root = "/api/sm/v1";
const foldersPath = `${root}/folders`;

/** Reaches secrets as the machine that the configuration describes. `now` in Unix milliseconds. */
export function machineStore(
  configuration: MachineConfiguration,
  transport: Transport,
  now: () => number = Date.now,
): SecretStore {
  const bearer = machineTokens(configuration, transport.url, now);
  let known = configuration.folders.map(rememberedFolder);
  let away: CofferError | undefined;

  const send = async (request: ApiRequest): Promise<ApiAnswer> =>
    transport.send({ ...request, bearer: await bearer() });

  const opened = (answer: ApiAnswer): Promise<OpenFolder[]> => {
    const unsealing = machineUnsealing(configuration, known);
    return Promise.all((dataOf(answer) as FolderView[]).map((view) => openFolder(view, unsealing)));
  };

  return {
    send,
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
 * has opened them; they are then the keys it remembers.
 */
function machineUnsealing(configuration: MachineConfiguration, known: readonly OpenFolder[]): Unsealing {
  return {
    box(alg, id, sealed) {
      if (alg !== "box-token") return undefined;
      if (configuration.wrap_key !== undefined)
        return unboxBound(decodeBase64(configuration.wrap_key), sealed, contexts.sharedFolderKey(id));
      const key = known.find((folder) => folder.id === id)?.key ?? undefined;
      return key === undefined ? undefined : Promise.resolve(key);
    },
    privateKey: () => Promise.resolve(decodeBase64(configuration.private_key)),
  };
}

/** A key that was not there at the bootstrap may have been sealed to the machine since: its version is not known then. */
function rememberedFolder({ id, name, permission, key_version, key }: ConfiguredFolder): OpenFolder {
  if (key === null) return { id, name, permission, keyVersion: undefined, key };
  return { id, name, permission, keyVersion: key_version, key: decodeBase64(key) };
}
