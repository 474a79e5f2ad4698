import type { Role, SiemFormat } from "@coffer/contract";
import type { Fingerprint } from "@coffer/crypto";
import { holderOf } from "@coffer/history";
import type { Resource } from "@coffer/history";
import { requireRequested } from "../http/require-requested.ts";
import { auditPages } from "../audit/audit-pages.ts";
import type { AuditFilter, AuditPage } from "../audit/audit-pages.ts";
import { createFolder } from "../folders/create-folder.ts";
import type { FolderSummary } from "../folders/create-folder.ts";
import { createToken } from "../machines/create-token.ts";
import { CofferError } from "../errors.ts";
import type { NewToken, TokenRequest } from "../machines/create-token.ts";
import { confirmMachine, grantFolder } from "../folders/grant-folder.ts";
import type { GrantRequest } from "../folders/grant-folder.ts";
import { personFingerprint } from "./own-key.ts";
import { freshSessions, memoryKeeper, personSender } from "./person-session.ts";
import type { PersonSession, SessionKeeper } from "./person-session.ts";
import { requireFolder } from "../folders/fresh-folders.ts";
import { personStore } from "./person-store.ts";
import type { ListedFolder } from "./person-store.ts";
import { publicKeyOf } from "./public-key.ts";
import type { ConfirmKey } from "./public-key.ts";
import { adoptFolder, adoptOrganization, confirmMember } from "../histories/adopt.ts";
import type { Adoption, ConfirmHolders } from "../histories/adopt.ts";
import { removeInvitation, removeToken } from "../histories/close-invitations.ts";
import type { ClosedInvitation } from "../histories/close-invitations.ts";
import { rememberEnded } from "../histories/ended.ts";
import { acceptOffer, offerOf } from "../histories/offer.ts";
import type { AcceptOffer, Offer } from "../histories/offer.ts";
import {
  acceptInvitation,
  createOrganization,
  inviteMember,
  named,
  removeMember,
  restateCut,
  stillNaming,
  updateMember,
} from "../histories/organization.ts";
import type { Named, ProveJoin, Removal } from "../histories/organization.ts";
import { personTrust } from "../histories/person-trust.ts";
import { trustKeyring } from "../histories/trust-keyring.ts";
import type { Trustworthy } from "../histories/trust-keyring.ts";
import { nameableOrganizations } from "../histories/known-as.ts";
import { memoryTrust } from "../histories/trust-storage.ts";
import type { TrustStorage } from "../histories/trust-storage.ts";
import { rotateFolder } from "../folders/rotate-folder.ts";
import type { RotatedFolder } from "../folders/rotate-folder.ts";
import { dataOf } from "../secrets/secret-store.ts";
import { secretsClient } from "../secrets/secrets-client.ts";
import type { SecretsClient, SecretsClientOptions } from "../secrets/secrets-client.ts";
import { createTransport } from "../http/transport.ts";
import type { ApiRequest, TransportOptions } from "../http/transport.ts";
import { shareFolder } from "../folders/share-folder.ts";
import type { ShareRequest } from "../folders/share-folder.ts";
import { folderMembers } from "../folders/folder-members.ts";
import type { FolderMember } from "../folders/folder-members.ts";
import { usableFolder } from "../folders/usable-folder.ts";
import type { UsableFolder } from "../folders/usable-folder.ts";
import { travelModeOf } from "./travel-mode.ts";
import { startSync } from "../sync/sync-client.ts";
import type { Sync, SyncOptions } from "../sync/sync-client.ts";
import { recordsClient } from "../vaults/records-client.ts";
import type { RecordsClient } from "../vaults/records-client.ts";
import { vaultStore } from "../vaults/vault-store.ts";
import { vaultsClient } from "../vaults/vaults-client.ts";
import type { VaultsClient } from "../vaults/vaults-client.ts";
import type {
  AccountView,
  ApplicationView,
  ClientGrantView,
  FolderMemberView,
  HolderView,
  InviteView,
  MachineView,
  MemberView,
  OrganizationView,
  SessionListItem,
  SiemTestView,
  SiemWebhookView,
  TokenView,
  TravelModeView,
} from "../views.ts";

export interface PersonClientOptions extends Partial<TransportOptions>, SecretsClientOptions {
  /** The id of the calls' organization. Without it the service takes the oldest membership. */
  organization?: string | undefined;
  /** Stores key pins between runs. Without it every run starts from the person's keyring. */
  trust?: TrustStorage | undefined;
  /**
   * Called once when the caller uses a folder or vault that another member shared. Without it that
   * is `not_accepted`.
   */
  accept?: AcceptOffer | undefined;
  /** Called when key pins could not be exchanged with the person's other devices. */
  onKeyringTrouble?: ((error: CofferError) => void) | undefined;
}

/** A new SIEM endpoint. docs/siem.md lists the credentials of each format. */
export interface NewSiemWebhook {
  name?: string | undefined;
  format: SiemFormat;
  url: string;
  credentials: Readonly<Record<string, string>>;
  enabled?: boolean | undefined;
}

/** The operations of a person. Every method throws CofferError. Objects are named by their ids. */
export interface PersonClient {
  readonly url: string;
  account(): Promise<AccountView>;
  /** The fingerprint of the caller's own key, computed from the private key here. */
  fingerprint(): Promise<Fingerprint>;
  /**
   * The caller's user key as the service stores it for the recovery key. `checkRecoverySeal` of `@coffer/sdk/backup` says
   * whether it is.
   */
  recoverySeal(): Promise<string>;
  /** Ends the session on the server. The caller must delete the stored session. */
  logout(): Promise<void>;
  readonly secrets: SecretsClient;
  readonly vaults: VaultsClient;
  readonly records: RecordsClient;
  /**
   * While travelling, vaults that are not safe for travel do not exist for the caller, on any
   * device.
   */
  readonly travel: {
    status(): Promise<TravelModeView>;
    /**
     * After the response nothing of the hidden vaults is left. Ending it needs the password:
     * `accountSecurity`.
     */
    start(): Promise<TravelModeView>;
    /**
     * Deletes all invisible vaults from `trust`. A sync's storage deletes its own copy. Rejects
     * when it fails.
     */
    forgetHidden(): Promise<void>;
  };
  /**
   * Synchronizes this device with the vaults, starting from the storage, until it is stopped.
   * Resolves when the storage is read; `ready` of the result resolves when the device is up to
   * date.
   */
  sync(options?: SyncOptions): Promise<Sync>;
  readonly organizations: {
    list(): Promise<AccountView["organizations"]>;
    /**
     * The organizations that a name may mean, under the names of their histories: also those that
     * this device knows and the service does not list.
     */
    nameable(): Promise<{ id: string; name: string }[]>;
    current(): Promise<OrganizationView>;
    /** The organization that this client signs for, under the name of its history. */
    own(): Promise<{ id: string; name: string }>;
    create(name: string): Promise<OrganizationView>;
    /**
     * Starts the history of an organization without one. `confirm` is called for the key of each
     * member, and `confirmHolders` before their permissions are signed.
     */
    adopt(confirm: ConfirmKey, confirmHolders: ConfirmHolders): Promise<Adoption>;
    /**
     * Trusts the history as the service shows it now, after the newest signer's words were
     * compared.
     */
    trust(id: string, confirm: ConfirmKey): Promise<void>;
  };
  /** The key pins that the person's devices share. */
  readonly keyring: {
    /** Starts again from what the service shows, if `ask` confirms it. */
    trust(ask: (shown: readonly Trustworthy[]) => Promise<boolean>): Promise<void>;
  };
  readonly folders: {
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
     * Accepts a folder that another member shared. `offer` is what the person was shown: a later name does not stand for
     * another accepted folder.
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
  };
  readonly members: {
    list(): Promise<MemberView[]>;
    /** Fields that are not given are not changed. */
    update(
      userId: string,
      change: { role?: Role | undefined; status?: MemberView["status"] | undefined },
    ): Promise<MemberView>;
    /**
     * Ends the person's access at once, and signs it as far as the caller may. With the caller's
     * own id, leaves. The folders and vaults in the result must be rotated. `force` also removes
     * the only manager of some, which is otherwise a `conflict`.
     */
    remove(userId: string, options?: { force?: boolean | undefined }): Promise<Removal>;
    /**
     * Corrects how far a former member's signatures count in a folder or vault, where the service
     * named a wrong entry at the removal. `entry` is the newest that its users have verified; by
     * default this device's.
     */
    restateCut(
      userId: string,
      resource: { kind: "folder" | "vault"; id: string },
      entry?: { seq: number; hash: string },
    ): Promise<{ seq: number; hash: string }>;
    /**
     * Signs that a member's key is the one that the service shows, after the words were compared.
     */
    confirm(userId: string, confirm: ConfirmKey): Promise<void>;
    /**
     * The members that the organization's history names. With `folder`, an id, those of the
     * organization that the folder's history names.
     */
    confirmed(options?: {
      folder?: string | undefined;
    }): Promise<{ user_id: string; email: string; public_key: string }[]>;
    sessions(userId: string): Promise<SessionListItem[]>;
    /** Ends one session of a member; all without an id. */
    endSessions(userId: string, sessionId?: string): Promise<void>;
    /** Switches a member's travel mode, as an administrator. */
    setTravel(userId: string, enabled: boolean): Promise<TravelModeView>;
    /** The person's public key, with the fingerprint to compare. */
    publicKey(userId: string): Promise<{ public_key: string; fingerprint: Fingerprint }>;
  };
  readonly invites: {
    list(): Promise<InviteView[]>;
    /** `token` is for the invited person. It is returned only once. */
    create(email: string, role: Role): Promise<InviteView & { token: string }>;
    /**
     * Revokes it, and closes it in the organization's history, with other open ones to its e-mail. Returns what was closed.
     */
    remove(id: string): Promise<ClosedInvitation[]>;
    /** Joins the organization of an invitation to the caller's e-mail. */
    accept(token: string, options?: { prove?: ProveJoin | undefined }): Promise<OrganizationView>;
  };
  readonly sessions: {
    list(): Promise<SessionListItem[]>;
    end(id: string): Promise<void>;
    endOthers(): Promise<void>;
  };
  readonly applications: {
    list(): Promise<ApplicationView[]>;
    create(name: string, description?: string): Promise<ApplicationView>;
    /** Fields that are not given are not changed. */
    update(
      id: string,
      change: { name?: string | undefined; description?: string | undefined },
    ): Promise<ApplicationView>;
    /** Also revokes its machines. */
    remove(id: string): Promise<void>;
  };
  readonly tokens: {
    list(applicationId: string): Promise<TokenView[]>;
    /**
     * Makes a one-time token here and seals the folder keys for it. The service gets only its hash.
     */
    create(request: TokenRequest): Promise<NewToken>;
    /** Revokes it, and closes it in the histories of its folders that the caller manages. Returns those. */
    remove(applicationId: string, id: string): Promise<ClosedInvitation[]>;
  };
  readonly machines: {
    list(applicationId: string): Promise<MachineView[]>;
    /** Revokes the machine, which takes effect within a second. */
    remove(applicationId: string, clientId: string): Promise<void>;
    /**
     * Gives a machine a folder with its key, or changes the permission; the machine has the key
     * from its next request on. `confirm` is called for the key of a machine that no folder of the
     * caller names yet.
     */
    share(applicationId: string, request: GrantRequest, confirm?: ConfirmKey): Promise<ClientGrantView>;
    /**
     * Names a machine that has not joined in the histories of its folders that the caller manages,
     * and seals their keys to it, after `confirm` has accepted its key. Returns those folders.
     */
    confirm(applicationId: string, clientId: string, confirm: ConfirmKey): Promise<{ id: string; name: string }[]>;
    /** Revokes a machine's grant. The machine may still have the key, so rotate the folder. */
    unshare(applicationId: string, clientId: string, folderId: string): Promise<void>;
  };
  /**
   * The folders and vaults known to this device whose histories name `who` (`user:<id>` or
   * `client:<id>`). Each names a removed one until it is rotated.
   */
  stillNaming(who: string): Promise<Removal["rotate"]>;
  /**
   * The accepted folders and vaults known to this device, and whom their histories name
   * (`user:<id>`, `client:<id>`). One who is no longer a member there has the key until a rotation.
   */
  named(): Promise<Named[]>;
  /**
   * The destinations of the organization's audit records. Owners and admins change them; auditors
   * list them.
   */
  readonly siem: {
    list(): Promise<SiemWebhookView[]>;
    create(webhook: NewSiemWebhook): Promise<SiemWebhookView>;
    /**
     * Fields that are not given are not changed. `credentials` replace all earlier ones; another
     * origin needs them again, otherwise it is 400.
     */
    update(id: string, change: Partial<Omit<NewSiemWebhook, "format">>): Promise<SiemWebhookView>;
    remove(id: string): Promise<void>;
    /** Sends one event, and resolves with the endpoint's response. */
    test(id: string): Promise<SiemTestView>;
  };
  /** Audit records, oldest first, page by page. */
  audit(filter?: AuditFilter): AsyncGenerator<AuditPage, void>;
}

/** Works with a session, or with a keeper that shares one with other processes. */
export function personClient(
  session: PersonSession | SessionKeeper,
  url: string,
  options: PersonClientOptions = {},
): PersonClient {
  const now = options.now ?? Date.now;
  const keeper = "renew" in session ? session : memoryKeeper(session);
  const transport = createTransport({ ...options, url });
  const send = personSender(keeper, transport, options.organization, now);
  const current = (): Promise<PersonSession> => keeper.current();
  const { trust: storage = memoryTrust(), onKeyringTrouble } = options;
  const { organization } = options;
  const trust = personTrust({ send, session: current, storage, organization, onKeyringTrouble });
  const secrets = personStore(send, trust, options.accept);
  const vaults = vaultStore(send, current, trust, options);

  const get = async <T>(path: string): Promise<T> => (await send({ method: "GET", path })).body as T;
  const list = async <T>(path: string): Promise<T[]> => dataOf(await send({ method: "GET", path })) as T[];
  /** A new object has an id. A response without one does not come from the service. */
  const post = async <T>(path: string, body: unknown): Promise<T> => {
    const { status, body: made } = await send({ method: "POST", path, body });
    if (typeof (made as { id?: unknown } | undefined)?.id === "string") return made as T;
    throw new CofferError("bad_answer", "the service does not say that anything was made", { status });
  };
  const remove = async (path: string, query?: ApiRequest["query"]): Promise<void> => {
    await send({ method: "DELETE", path, query });
  };
  const travelPath = "/api/account/travel-mode";
  const folderPath = (id: string): string => `/api/org/folders/${encodeURIComponent(id)}`;
  const member = (userId: string): string => `/api/org/members/${encodeURIComponent(userId)}`;
  const application = (id: string): string => `/api/org/applications/${encodeURIComponent(id)}`;
  const client = (applicationId: string, id: string): string =>
    `${application(applicationId)}/clients/${encodeURIComponent(id)}`;
  const machineOf = async (applicationId: string, id: string): Promise<MachineView> => {
    const machines = await list<MachineView>(`${application(applicationId)}/clients`);
    const machine = machines.find(({ client_id }) => client_id === id);
    if (machine === undefined) throw new CofferError("not_found", `there is no machine ${id} that you may see`);
    return machine;
  };
  const granted = (applicationId: string, clientId: string, folderId: string): string =>
    `${client(applicationId, clientId)}/folders/${encodeURIComponent(folderId)}`;

  return {
    url: transport.url,
    account: () => get("/api/account"),
    fingerprint: async () => personFingerprint(await current()),
    async recoverySeal() {
      const answer = await send({ method: "GET", path: "/api/account/recovery" });
      const { encrypted_user_key: sealed } = answer.body as { encrypted_user_key?: unknown };
      if (typeof sealed === "string") return sealed;
      throw new CofferError("bad_answer", "the service's answer is no sealed user key", { status: answer.status });
    },
    async logout() {
      const { status } = await send({ method: "POST", path: "/api/auth/logout", repeatable: true });
      if (status !== 204)
        throw new CofferError("bad_answer", "the service does not say that the session is ended", { status });
    },
    secrets: secretsClient(secrets, options),
    vaults: vaultsClient(vaults, trust, current),
    records: recordsClient(vaults, options),
    sync: (syncOptions = {}) =>
      startSync(
        {
          url: transport.url,
          sessions: freshSessions(keeper, transport, now),
          session: () => keeper.current(),
          vaults,
          forgetHidden: (ids) => trust.vaultPins.forgetAllBut(ids),
          now,
        },
        syncOptions,
      ),
    travel: {
      status: async () => travelModeOf(await send({ method: "GET", path: travelPath })),
      start: async () => travelModeOf(await send({ method: "PUT", path: travelPath, body: { enabled: true } }), true),
      async forgetHidden() {
        await trust.vaultPins.forgetAllBut((await vaults.list()).map(({ view }) => view.id));
      },
    },
    organizations: {
      list: async () => (await get<AccountView>("/api/account")).organizations,
      nameable: async () =>
        nameableOrganizations(trust.histories, (await get<AccountView>("/api/account")).organizations),
      current: () => get("/api/org"),
      async own() {
        const { res, name } = (await trust.organization()).state;
        return { id: res.slice("org:".length), name };
      },
      create: async (name) => createOrganization(send, trust, await current(), name),
      adopt: (confirm, confirmHolders) => adoptOrganization(send, trust, confirm, confirmHolders),
      trust: (id, confirm) => trust.trustAgain(`org:${id}`, confirm),
    },
    keyring: {
      trust: async (ask) => trustKeyring(send, await current(), trust.histories, trust.vaultPins, ask),
    },
    folders: {
      list: () => secrets.listed(),
      find: async (nameOrId) => usableFolder(await requireFolder(secrets, nameOrId)),
      create: async (name) => createFolder(send, await current(), trust, name),
      remove: (id, { force = false } = {}) => remove(folderPath(id), force ? { force: "true" } : undefined),
      holders: (id) => list(`${folderPath(id)}/members`),
      members: (id) => folderMembers(send, trust, id),
      share: (id, request) => shareFolder(secrets, trust, id, request),
      rename: (id, name) =>
        trust.sign(`folder:${id}`, () =>
          Promise.resolve({
            change: { name },
            send: async (entry) => {
              const answer = await send({ method: "PATCH", path: folderPath(id), body: { name, entry } });
              return { ...requireRequested<FolderSummary>(answer, { id }), name };
            },
          }),
        ),
      offer: (id) => offerOf(trust, `folder:${id}`),
      accept: (id, offer) => acceptOffer(trust, `folder:${id}`, offer),
      adopt: async (id, confirm, confirmHolders) =>
        adoptFolder(send, trust, await current(), id, confirm, confirmHolders),
      trust: (id, confirm) => trust.trustAgain(`folder:${id}`, confirm),
      async unshare(id, userId) {
        try {
          await remove(`${folderPath(id)}/members/${encodeURIComponent(userId)}`);
        } catch (error) {
          // A member whose access has ended, and that the history still names.
          const isGone = error instanceof CofferError && error.status === 404 && !error.foreign;
          const state = (await trust.histories.known(`folder:${id}`))?.state;
          if (!isGone || state == null || holderOf(state, `user:${userId}`) === undefined) throw error;
        }
        await rememberEnded(trust.histories, `user:${userId}`, (res) => res === `folder:${id}`);
      },
      rotate: (id) => rotateFolder(secrets, trust, id),
    },
    members: {
      list: () => list("/api/org/members"),
      update: (userId, change) => updateMember(send, trust, userId, change),
      remove: (userId, { force = false } = {}) =>
        removeMember(send, trust, userId, {
          force,
          readHistories: () => Promise.all([secrets.listed(), vaults.list()]),
        }),
      restateCut: (userId, { kind, id }, entry) => restateCut(send, trust, userId, `${kind}:${id}`, entry),
      async confirm(userId, confirm) {
        const members = await list<MemberView>("/api/org/members");
        const found = members.find(({ user_id }) => user_id === userId);
        if (found === undefined) throw new CofferError("not_found", `there is no member ${userId} that you may see`);
        await confirmMember(send, trust, found, confirm);
      },
      async confirmed({ folder } = {}) {
        const { state } = await (folder === undefined
          ? trust.organization()
          : trust.organizationOf(`folder:${folder}`));
        return state.holders.map(({ who, email = "", key }) => ({ user_id: who.slice(5), email, public_key: key }));
      },
      sessions: (userId) => list(`${member(userId)}/sessions`),
      endSessions: (userId, sessionId) =>
        remove(`${member(userId)}/sessions${sessionId === undefined ? "" : `/${encodeURIComponent(sessionId)}`}`),
      setTravel: async (userId, enabled) =>
        travelModeOf(await send({ method: "PUT", path: `${member(userId)}/travel-mode`, body: { enabled } }), enabled),
      publicKey: (userId) => publicKeyOf(send, userId),
    },
    invites: {
      list: () => list("/api/org/invites"),
      create: (email, role) => inviteMember(send, trust, email, role),
      remove: (id) => removeInvitation(send, trust, id),
      accept: async (token, { prove } = {}) => acceptInvitation(send, trust, await current(), token, prove),
    },
    sessions: {
      list: () => list("/api/auth/sessions"),
      end: (id) => remove(`/api/auth/sessions/${encodeURIComponent(id)}`),
      endOthers: () => remove("/api/auth/sessions", { others: "true" }),
    },
    applications: {
      list: () => list("/api/org/applications"),
      create: (name, description) => post("/api/org/applications", { name, description }),
      update: async (id, change) =>
        requireRequested<ApplicationView>(await send({ method: "PATCH", path: application(id), body: change }), { id }),
      async remove(id) {
        const machines = await list<MachineView>(`${application(id)}/clients`);
        await remove(application(id));
        for (const { client_id } of machines) await rememberEnded(trust.histories, `client:${client_id}`, isOfFolder);
      },
    },
    tokens: {
      list: (id) => list(`${application(id)}/tokens`),
      create: (request) => createToken(secrets, trust, request),
      async remove(applicationId, id) {
        await secrets.listed();
        return removeToken(send, trust, applicationId, id);
      },
    },
    machines: {
      list: (id) => list(`${application(id)}/clients`),
      async remove(applicationId, id) {
        await remove(client(applicationId, id));
        await rememberEnded(trust.histories, `client:${id}`, isOfFolder);
      },
      share: async (applicationId, request, confirm) => {
        const machine = await machineOf(applicationId, request.clientId);
        const path = granted(applicationId, request.clientId, request.folderId);
        return grantFolder(secrets, trust, machine, request, path, confirm);
      },
      confirm: async (applicationId, clientId, confirm) =>
        confirmMachine(secrets, trust, await machineOf(applicationId, clientId), confirm, (folderId) =>
          granted(applicationId, clientId, folderId),
        ),
      async unshare(applicationId, clientId, folderId) {
        await remove(granted(applicationId, clientId, folderId));
        await rememberEnded(trust.histories, `client:${clientId}`, (res) => res === `folder:${folderId}`);
      },
    },
    stillNaming: (who) => stillNaming(trust, who),
    named: () => named(trust),
    siem: {
      list: () => list(webhooks),
      create: (given) => post(webhooks, given),
      update: async (id, change) =>
        requireRequested<SiemWebhookView>(await send({ method: "PATCH", path: webhook(id), body: change }), { id }),
      remove: (id) => remove(webhook(id)),
      async test(id) {
        const { status, body } = await send({ method: "POST", path: `${webhook(id)}/test`, body: {} });
        const said = body as SiemTestView | undefined; // ok is checked; the rest is the service's word
        if (typeof said?.ok === "boolean") return said;
        throw new CofferError("bad_answer", "the service does not say what the endpoint answered", { status });
      },
    },
    audit: (filter) => auditPages(send, filter),
  };
}

const webhooks = "/api/org/siem/webhooks";
const webhook = (id: string): string => `${webhooks}/${encodeURIComponent(id)}`;

const isOfFolder = (res: Resource): boolean => res.startsWith("folder:");
