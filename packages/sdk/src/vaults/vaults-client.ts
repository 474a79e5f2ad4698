import type { VaultType } from "@coffer/contract";
import { CofferError } from "../errors.ts";
import type { ShareRequest } from "../folders/share-folder.ts";
import { type Adoption, adoptVault, type ConfirmHolders } from "../histories/adopt.ts";
import { isUuid, requireRequested } from "../http/require-requested.ts";
import type { PersonSession } from "../people/person-session.ts";
import type { ConfirmKey } from "../people/public-key.ts";
import { namedBy } from "../secrets/find-secret.ts";
import { requireOwnName } from "../trust/known-as.ts";
import { acceptOffer, type Offer, offerOf } from "../trust/offer.ts";
import type { PersonTrust } from "../trust/person-trust.ts";
import { removing } from "../trust/removed.ts";
import { trustAgain } from "../trust/trust-again.ts";
import { createVault } from "./create-vault.ts";
import type { Vault } from "./open-vault.ts";
import { type RotatedVault, rotateVault } from "./rotate-vault.ts";
import { shareVault, unshareVault, type VaultMember, vaultMembers } from "./share-vault.ts";
import { updateVault } from "./update-vault.ts";
import { vaultPath } from "./vault-path.ts";
import type { VaultStore } from "./vault-store.ts";
import type { VaultGrantView, VaultView } from "./views.ts";

/**
 * Vaults, which contain records. Every method throws CofferError. Vaults are named by their ids.
 */
export interface VaultsClient {
  /**
   * All vaults of the caller in every organization, under the names of their histories. While
   * travelling, only those that are safe for travel.
   */
  list(): Promise<Vault[]>;
  get(id: string): Promise<Vault>;
  /**
   * The vault with that name or id, optionally only in this organization. An ambiguous name is
   * `name_ambiguous`. The caller is asked about a vault that is not accepted yet.
   */
  find(nameOrId: string, options?: { organization?: string | undefined }): Promise<Vault>;
  /**
   * Creates a vault with a new key that only the caller can open. Only a `shared` one can be
   * shared.
   */
  create(name: string, options?: { type?: VaultType | undefined }): Promise<Vault>;
  /** Fields that are not given are not changed. */
  update(id: string, change: { name?: string | undefined; safeForTravel?: boolean | undefined }): Promise<Vault>;
  /** Deletes it with all its records. It cannot be undone. */
  remove(id: string): Promise<void>;
  members(id: string): Promise<VaultMember[]>;
  /** Gives a member of the organization the vault with its key, or changes the permission. */
  share(id: string, request: ShareRequest): Promise<VaultGrantView>;
  /**
   * Ends a member's access and rotates the vault, so that its history records it. With the caller's
   * own id, leaves. Null when the caller leaves, or the vault has no history. Repeating it after an
   * error finishes the rest.
   */
  unshare(id: string, userId: string): Promise<RotatedVault | null>;
  /** Gives the vault a new key, for the members that its history confirms. */
  rotate(id: string): Promise<RotatedVault>;
  /** The offer of a vault that is not accepted yet. */
  offer(id: string): Promise<Offer>;
  /**
   * Accepts a vault that another member shared. `offer` is what the person was shown: a later name
   * does not stand for another accepted vault.
   */
  accept(id: string, offer?: Pick<Offer, "name">): Promise<void>;
  /**
   * Starts the history of a shared vault without one. `confirmHolders` is called before its members
   * are signed.
   */
  adopt(id: string, confirmHolders: ConfirmHolders): Promise<Adoption>;
  /**
   * Trusts the history as the service shows it now, after the newest signer's words were compared.
   */
  trust(id: string, confirm: ConfirmKey): Promise<void>;
}

export function vaultsClient(
  store: VaultStore,
  trust: PersonTrust,
  session: () => Promise<PersonSession>,
): VaultsClient {
  return {
    list: async () => (await store.list()).map(({ vault }) => vault),
    get: async (id) => (await store.fresh(id)).vault,
    async find(nameOrId, { organization } = {}) {
      const all = (await store.list()).filter(
        ({ vault }) => organization === undefined || vault.org_id === organization,
      );
      // Only its owner creates a personal vault, and no other vault can be shown as one.
      const things = all.map(({ vault, accepted }) => ({
        ...{ id: vault.id, name: vault.name, trusted: vault.type === "personal" || accepted },
      }));
      const found = namedBy("vault", things, nameOrId);
      if (found === undefined) throw new CofferError("not_found", `there is no vault ${nameOrId} that you may see`);
      if (!isUuid(nameOrId)) await requireOwnName(trust.histories, `vault:${found.id}`, "person", organization);
      return found.trusted === false ? (await store.toRead(found.id)).vault : (await store.one(found.id)).vault;
    },
    create: async (name, { type = "personal" } = {}) =>
      (await createVault(store, trust, await session(), name, type)).vault,
    update: async (id, change) => (await updateVault(store, trust, id, change)).vault,
    async remove(id) {
      await removing(trust.histories, `vault:${id}`, () => store.send({ method: "DELETE", path: vaultPath(id) }));
      store.forget(id);
    },
    members: (id) => vaultMembers(store, trust, id),
    share: (id, request) => shareVault(store, trust, id, request),
    unshare: (id, userId) => unshareVault(store, trust, id, userId),
    rotate: (id) => rotateVault(store, trust, id),
    async offer(id) {
      await store.fresh(id);
      return offerOf(trust, `vault:${id}`);
    },
    async accept(id, offer) {
      const shown = offer ?? (await trust.histories.known(`vault:${id}`))?.state ?? undefined;
      await store.fresh(id);
      await acceptOffer(trust, `vault:${id}`, shown);
      await store.fresh(id);
    },
    async adopt(id, confirmHolders) {
      const adoption = await adoptVault(store.send, trust, await session(), id, confirmHolders);
      await store.fresh(id);
      return adoption;
    },
    async trust(id, confirm) {
      await trust.vaultPins.recall(id);
      await trustAgain(trust.histories, `vault:${id}`, confirm);
      const view = requireRequested<VaultView>(await store.send({ method: "GET", path: vaultPath(id) }), { id });
      await trust.vaultPins.overwrite(view);
      await store.seen(view);
    },
  };
}
