import { CofferError, type CofferErrorCode } from "../errors.ts";
import type { FolderSummary } from "../folders/create-folder.ts";
import { sealableFolder, sealMissing } from "../histories/seal-missing.ts";
import { isUuid, requireRequested } from "../http/require-requested.ts";
import type { Send } from "../http/transport.ts";
import { foldersOf } from "../http/list-answer.ts";
import type { OpenFolder, SecretStore } from "../secrets/secret-store.ts";
import { type AcceptOffer, acceptOffer, offerOf } from "../trust/offer.ts";
import type { PersonTrust } from "../trust/person-trust.ts";
import { areStillTrusted, openedLast, trustedFolder } from "../trust/trusted-folder.ts";
import type { SecretView } from "../views.ts";

/** A folder in a list, under the name of its history. */
export type ListedFolder = FolderSummary & {
  /** Why its key cannot be used; null when it can. */
  problem: CofferErrorCode | null;
};

export interface PersonStore extends SecretStore {
  /** The folders as the service lists them now. */
  listed(): Promise<ListedFolder[]>;
}

/**
 * Accesses secrets as a person: folder by folder, with the keys that the histories of the folders
 * name.
 */
export function personStore(send: Send, trust: PersonTrust, accept?: AcceptOffer): PersonStore {
  let views: FolderSummary[] = [];
  let known: OpenFolder[] | undefined;
  const pathIn = (folderId: string): string => `/api/org/folders/${encodeURIComponent(folderId)}/secrets`;

  const folders = async (fresh: boolean): Promise<OpenFolder[]> => {
    if (known !== undefined && !fresh && (await areStillTrusted(known))) return known;
    known = await openedLast(async () => {
      const shown = foldersOf<FolderSummary>(await send({ method: "GET", path: "/api/org/folders" }));
      views = shown.filter(({ id }) => isUuid(id));
      const by = await trust.folders();
      const opened = await Promise.all(views.map((view) => trustedFolder(view, by)));
      for (const folder of opened.filter(({ permission }) => permission === "manage"))
        await sealMissing(send, trust.histories, sealableFolder(send, folder));
      await trust.share();
      return opened;
    });
    return known;
  };

  return {
    send,
    caller: "person",
    histories: trust.histories,
    folders,
    async listed() {
      const opened = await folders(true);
      return views.map((view, index) => {
        const { name = view.name, permission = view.permission, keyError } = opened[index] ?? {};
        return { ...view, name, permission, problem: keyError?.code ?? null };
      });
    },
    pathIn,
    listPaths: (wanted) => wanted.map(({ id }) => pathIn(id)),
    search: () => undefined,
    async accepted(folder) {
      const res = `folder:${folder.id}` as const;
      if (accept === undefined) return undefined;
      const offer = await offerOf(trust, res);
      if (!(await accept(offer))) return undefined;
      await acceptOffer(trust, res, offer);
      return (await folders(true)).find(({ id }) => id === folder.id);
    },
    async one(uid) {
      for (const { id } of (await folders(false)).filter(({ key }) => key !== null)) {
        try {
          const path = `${pathIn(id)}/${encodeURIComponent(uid)}`;
          return requireRequested<SecretView>(await send({ method: "GET", path }), { uid, folder_id: id });
        } catch (error) {
          if (!(error instanceof CofferError) || error.status !== 404 || error.foreign) throw error;
        }
      }
      throw new CofferError("secret_not_found", `no folder of yours holds the secret ${uid}`);
    },
  };
}
