import { adoptFolder, type Adoption, type ConfirmHolders } from "../histories/adopt.ts";
import { requireRequested } from "../http/require-requested.ts";
import type { PersonContext } from "../people/person-context.ts";
import type { ListedFolder } from "../people/person-store.ts";
import type { ConfirmKey } from "../people/public-key.ts";
import { ignoreTrouble, rememberEnded, unlessGone } from "../trust/ended.ts";
import { takeName } from "../trust/known-as.ts";
import { acceptOffer, type Offer, offerOf } from "../trust/offer.ts";
import { removing } from "../trust/removed.ts";
import type { FolderMemberView, HolderView } from "../views.ts";
import { createFolder, type FolderSummary } from "./create-folder.ts";
import { type FolderMember, folderMembers } from "./folder-members.ts";
import { requireFolder } from "./fresh-folders.ts";
import { type RotatedFolder, rotateFolder } from "./rotate-folder.ts";
import { shareFolder, type ShareRequest } from "./share-folder.ts";
import { type UsableFolder, usableFolder } from "./usable-folder.ts";

/** The folders of a person, which contain secrets. Folders are named by their ids. */
export interface FoldersClient {
  /**
   * The folders under the names of their histories, each with the error that makes its key
   * unusable.
   */
  list(): Promise<ListedFolder[]>;
  /**
   * The folder with that name or id. Names come from histories. An ambiguous name is
   * `name_ambiguous`.
   */
  find(nameOrId: string): Promise<UsableFolder>;
  /** Creates a folder with a new key that only the caller can open. */
  create(name: string): Promise<FolderSummary>;
  rename(id: string, name: string): Promise<FolderSummary>;
  /**
   * `force` also deletes a folder with secrets, which is otherwise a `conflict`. It cannot be
   * undone.
   */
  remove(id: string, options?: { force?: boolean | undefined }): Promise<void>;
  /** The members and machines as the service lists them. */
  holders(id: string): Promise<HolderView[]>;
  /** The members and machines by the histories, and former ones that the folder's history still names. */
  members(id: string): Promise<FolderMember[]>;
  /** Gives a member the folder with its key, or changes the permission. */
  share(id: string, request: ShareRequest): Promise<FolderMemberView>;
  /** Ends a member's access at once. The folder's history records it with its next rotation. */
  unshare(id: string, userId: string): Promise<void>;
  /** Gives the folder a new key, for the members and machines that its history confirms. */
  rotate(id: string): Promise<RotatedFolder>;
  /** The offer of a folder that is not accepted yet. */
  offer(id: string): Promise<Offer>;
  /**
   * Accepts a folder that another member shared. `offer` is what the person was shown: a later name
   * does not stand for another accepted folder.
   */
  accept(id: string, offer?: Pick<Offer, "name">): Promise<void>;
  /**
   * Starts the history of a folder without one. `confirm` is called for the key of each machine,
   * and `confirmHolders` before its members and machines are signed.
   */
  adopt(id: string, confirm: ConfirmKey, confirmHolders: ConfirmHolders): Promise<Adoption>;
  /**
   * Trusts the history as the service shows it now, after the newest signer's words were
   * compared.
   */
  trust(id: string, confirm: ConfirmKey): Promise<void>;
}

const folderPath = (id: string): string => `/api/org/folders/${encodeURIComponent(id)}`;

export function foldersClient({ api, trust, secrets, current }: PersonContext): FoldersClient {
  const { send, list, remove } = api;
  return {
    list: () => secrets.listed(),
    find: async (nameOrId) => usableFolder(await requireFolder(secrets, nameOrId)),
    create: async (name) => createFolder(send, await current(), trust, name),
    async remove(id, { force = false } = {}) {
      const query = force ? { force: "true" } : undefined;
      await removing(trust.histories, `folder:${id}`, () => remove(folderPath(id), query));
      await trust.share();
    },
    holders: (id) => list(`${folderPath(id)}/members`),
    members: (id) => folderMembers(send, trust, id),
    share: (id, request) => shareFolder(secrets, trust, id, request),
    async rename(id, name) {
      const renamed = await trust.sign(`folder:${id}`, () =>
        Promise.resolve({
          change: { name },
          send: async (entry) => {
            const answer = await send({ method: "PATCH", path: folderPath(id), body: { name, entry } });
            return { ...requireRequested<FolderSummary>(answer, { id }), name };
          },
        }),
      );
      await takeName(trust.histories, `folder:${id}`);
      return renamed;
    },
    offer: (id) => offerOf(trust, `folder:${id}`),
    accept: (id, offer) => acceptOffer(trust, `folder:${id}`, offer),
    adopt: async (id, confirm, confirmHolders) =>
      adoptFolder(send, trust, await current(), id, confirm, confirmHolders),
    trust: (id, confirm) => trust.trustAgain(`folder:${id}`, confirm),
    async unshare(id, userId) {
      const who = `user:${userId}` as const;
      // Those that the member adds from now on get no key: those added before are read first.
      const state = (await trust.histories.newest(`folder:${id}`).catch(ignoreTrouble))?.state;
      const request = (): Promise<void> => remove(`${folderPath(id)}/members/${encodeURIComponent(userId)}`);
      const isIt = (res: string): boolean => res === `folder:${id}`;
      await rememberEnded(trust.histories, [who], isIt, () => unlessGone(request, state, who));
    },
    rotate: (id) => rotateFolder(secrets, trust, id),
  };
}
