import { askedFor } from "./asked-for.ts";
import { CofferError } from "./errors.ts";
import { openFolder, personUnsealing } from "./folder-key.ts";
import type { PersonSession } from "./person-session.ts";
import { dataOf } from "./secret-store.ts";
import type { OpenFolder, SecretStore } from "./secret-store.ts";
import type { ApiAnswer, ApiRequest } from "./transport.ts";
import type { FolderView, SecretView } from "./views.ts";

/** Reaches secrets as a person: folder by folder, with the keys that the person's own key opens. */
export function personStore(
  send: (request: ApiRequest) => Promise<ApiAnswer>,
  session: () => Promise<PersonSession>,
): SecretStore {
  let known: OpenFolder[] | undefined;
  const pathIn = (folderId: string): string => `/api/org/folders/${encodeURIComponent(folderId)}/secrets`;

  const folders = async (fresh: boolean): Promise<OpenFolder[]> => {
    if (known === undefined || fresh) {
      const views = dataOf(await send({ method: "GET", path: "/api/org/folders" })) as FolderView[];
      const unsealing = personUnsealing(await session());
      known = await Promise.all(views.map((view) => openFolder(view, unsealing)));
    }
    return known;
  };

  return {
    send,
    folders,
    pathIn,
    listPaths: (wanted) => wanted.map(({ id }) => pathIn(id)),
    search: () => undefined,
    async one(uid) {
      for (const { id } of (await folders(false)).filter(({ key }) => key !== null)) {
        try {
          const path = `${pathIn(id)}/${encodeURIComponent(uid)}`;
          return askedFor<SecretView>(await send({ method: "GET", path }), { uid, folder_id: id });
        } catch (error) {
          if (!(error instanceof CofferError) || error.status !== 404 || error.foreign) throw error;
        }
      }
      throw new CofferError("secret_not_found", `no folder of yours holds the secret ${uid}`);
    },
  };
}
