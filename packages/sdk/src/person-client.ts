import type { Fingerprint } from "@coffer/crypto";
import type { Resource } from "@coffer/history";
import { askedFor } from "./asked-for.ts";
import { auditPages } from "./audit-pages.ts";
import type { AuditFilter, AuditPage } from "./audit-pages.ts";
import { createFolder } from "./create-folder.ts";
import type { FolderSummary } from "./create-folder.ts";
import { createToken } from "./create-token.ts";
import { CofferError } from "./errors.ts";
import type { NewToken, TokenRequest } from "./create-token.ts";
import { confirmMachine, grantFolder } from "./grant-folder.ts";
import type { GrantRequest } from "./grant-folder.ts";
import { personFingerprint } from "./own-key.ts";
import { freshSessions, memoryKeeper, personSender } from "./person-session.ts";
import type { PersonSession, SessionKeeper } from "./person-session.ts";
import { requireFolder } from "./fresh-folders.ts";
import { personStore } from "./person-store.ts";
import type { ListedFolder } from "./person-store.ts";
import { publicKeyOf } from "./public-key.ts";
import type { ConfirmKey } from "./public-key.ts";
import { adoptFolder, adoptOrganization, confirmMember } from "./histories/adopt.ts";
import type { Adoption } from "./histories/adopt.ts";
import { rememberEnded } from "./histories/ended.ts";
import { acceptOffer, offerOf } from "./histories/offer.ts";
import type { AcceptOffer, Offer } from "./histories/offer.ts";
import {
  acceptInvitation,
  createOrganization,
  inviteMember,
  removeMember,
  stillNaming,
  updateMember,
} from "./histories/organization.ts";
import type { ProveJoin, Removal } from "./histories/organization.ts";
import { personTrust } from "./histories/person-trust.ts";
import { trustKeyring } from "./histories/trust-keyring.ts";
import type { Trustworthy } from "./histories/trust-keyring.ts";
import { forgetVaultsBut, memoryTrust } from "./histories/trust-storage.ts";
import type { TrustStorage } from "./histories/trust-storage.ts";
import { rotateFolder } from "./rotate-folder.ts";
import type { RotatedFolder } from "./rotate-folder.ts";
import { dataOf } from "./secret-store.ts";
import { secretsClient } from "./secrets-client.ts";
import type { SecretsClient, SecretsClientOptions } from "./secrets-client.ts";
import { createTransport } from "./transport.ts";
import type { ApiRequest, TransportOptions } from "./transport.ts";
import { shareFolder } from "./share-folder.ts";
import type { ShareRequest } from "./share-folder.ts";
import { usableFolder } from "./usable-folder.ts";
import type { UsableFolder } from "./usable-folder.ts";
import { travelModeOf } from "./travel-mode.ts";
import { startSync } from "./sync/sync-client.ts";
import type { Sync, SyncOptions } from "./sync/sync-client.ts";
import { recordsClient } from "./vaults/records-client.ts";
import type { RecordsClient } from "./vaults/records-client.ts";
import { vaultStore } from "./vaults/vault-store.ts";
import { vaultsClient } from "./vaults/vaults-client.ts";
import type { VaultsClient } from "./vaults/vaults-client.ts";
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
  Role,
  SessionListItem,
  SiemFormat,
  SiemTestView,
  SiemWebhookView,
  TokenView,
  TravelModeView,
} from "./views.ts";

export interface PersonClientOptions extends Partial<TransportOptions>, SecretsClientOptions {
  /** Id of the organization that calls are about; without it the service takes the oldest membership. */
  organization?: string | undefined;
  /**
   * Keeps between runs what this device trusts. Without it every run begins from the person's keyring.
   */
  trust?: TrustStorage | undefined;
  /** Asked when a folder or vault is used that somebody gave the caller, once. Without it that is `not_accepted`. */
  accept?: AcceptOffer | undefined;
  /** Hears why the keyring, which tells the person's other devices what this one trusts, could not be brought up to date. */
  onKeyringTrouble?: ((error: CofferError) => void) | undefined;
}

/** A SIEM endpoint to be made. docs/siem.md has the credentials of each format. */
export interface NewSiemWebhook {
  name?: string | undefined;
  format: SiemFormat;
  url: string;
  credentials: Readonly<Record<string, string>>;
  enabled?: boolean | undefined;
}

/** What a person does. Every method throws CofferError. Things are named by their ids. */
export interface PersonClient {
  readonly url: string;
  account(): Promise<AccountView>;
  /** The fingerprint of the caller's own key, computed from the private key here and not from an answer. */
  fingerprint(): Promise<Fingerprint>;
  /** Ends the session on the server; the session that is kept is the caller's to forget. */
  logout(): Promise<void>;
  readonly secrets: SecretsClient;
  readonly vaults: VaultsClient;
  readonly records: RecordsClient;
  /** While travelling, vaults that are not safe for it do not exist for the caller, on any device. */
  readonly travel: {
    status(): Promise<TravelModeView>;
    /** From the answer on nothing of the hidden vaults is left. To end it takes the password: `accountSecurity`. */
    start(): Promise<TravelModeView>;
    /**
     * Forgets in `trust` all vaults that are not in sight. What a sync's storage holds of them is its own to forget. Rejects when
     * they cannot be forgotten.
     */
    forgetHidden(): Promise<void>;
  };
  /**
   * Keeps this device up to date with the vaults, from what the storage holds on, until it is stopped. Resolves when the
   * storage is read; `ready` of the result when the device is up to date.
   */
  sync(options?: SyncOptions): Promise<Sync>;
  readonly organizations: {
    list(): Promise<AccountView["organizations"]>;
    current(): Promise<OrganizationView>;
    create(name: string): Promise<OrganizationView>;
    /** Gives an organization a history that was made without one; `confirm` is asked about the key of each member. */
    adopt(confirm: ConfirmKey): Promise<Adoption>;
    /** Trusts the history as the service shows it, once the newest signer's words were compared. */
    trust(id: string, confirm: ConfirmKey): Promise<void>;
  };
  /** What the person's devices tell each other. */
  readonly keyring: {
    /** Begins again from what the service shows, when `ask` says that it may be trusted. */
    trust(ask: (shown: readonly Trustworthy[]) => Promise<boolean>): Promise<void>;
  };
  readonly folders: {
    /** The folders under the names of their histories, each with what keeps its key from being used. */
    list(): Promise<ListedFolder[]>;
    /** The folder of that name or id. Names are the histories'; a name of two is `name_ambiguous`. */
    find(nameOrId: string): Promise<UsableFolder>;
    /** Makes a folder with a new key that only the caller can open. */
    create(name: string): Promise<FolderSummary>;
    rename(id: string, name: string): Promise<FolderSummary>;
    /** With `force` also a folder that holds secrets, and them; else that is `conflict`. It cannot be undone. */
    remove(id: string, options?: { force?: boolean | undefined }): Promise<void>;
    holders(id: string): Promise<HolderView[]>;
    /** Gives a member the folder with its key, or changes the permission. */
    share(id: string, request: ShareRequest): Promise<FolderMemberView>;
    /** Ends a member's access at once. The folder's history says so from its next rotation on. */
    unshare(id: string, userId: string): Promise<void>;
    /** Gives the folder a new key, for the holders that its history confirms. */
    rotate(id: string): Promise<RotatedFolder>;
    /** What is offered, to be accepted. */
    offer(id: string): Promise<Offer>;
    /** Accepts a folder that somebody gave the caller. */
    accept(id: string): Promise<void>;
    /** Gives a folder a history that was made without one; `confirm` is asked about the key of each machine. */
    adopt(id: string, confirm: ConfirmKey): Promise<Adoption>;
    /** Trusts the history as the service shows it, once the newest signer's words were compared. */
    trust(id: string, confirm: ConfirmKey): Promise<void>;
  };
  readonly members: {
    list(): Promise<MemberView[]>;
    /** What is not given stays. */
    update(
      userId: string,
      change: { role?: Role | undefined; status?: MemberView["status"] | undefined },
    ): Promise<MemberView>;
    /**
     * Ends the person's access at once, and signs it as far as the caller may; with one's own id leaves. Rotate the folders and
     * vaults that the answer names. With `force` also the only manager of some, else that is `conflict`.
     */
    remove(userId: string, options?: { force?: boolean | undefined }): Promise<Removal>;
    /** Signs that a member's key is the one that the service shows, once the words were compared. */
    confirm(userId: string, confirm: ConfirmKey): Promise<void>;
    /**
     * The members as the organization's history names them, by their ids; with `folder`, its id, those of the organization that
     * the folder's history names.
     */
    confirmed(options?: {
      folder?: string | undefined;
    }): Promise<{ user_id: string; email: string; public_key: string }[]>;
    sessions(userId: string): Promise<SessionListItem[]>;
    /** Ends one session of a member, or without an id all. */
    endSessions(userId: string, sessionId?: string): Promise<void>;
    /** Turns a member's travel mode on or off, as an administrator. */
    setTravel(userId: string, enabled: boolean): Promise<TravelModeView>;
    /** The key that something is sealed to for this person, with the fingerprint to compare. */
    publicKey(userId: string): Promise<{ public_key: string; fingerprint: Fingerprint }>;
  };
  readonly invites: {
    list(): Promise<InviteView[]>;
    /** `token` is for the person who is invited; it is nowhere else and cannot be had again. */
    create(email: string, role: Role): Promise<InviteView & { token: string }>;
    remove(id: string): Promise<void>;
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
    /** What is not given stays. */
    update(
      id: string,
      change: { name?: string | undefined; description?: string | undefined },
    ): Promise<ApplicationView>;
    /** Revokes its machines too. */
    remove(id: string): Promise<void>;
  };
  readonly tokens: {
    list(applicationId: string): Promise<TokenView[]>;
    /** Makes a one-time token here, seals the folder keys for it, and tells the service its hash only. */
    create(request: TokenRequest): Promise<NewToken>;
    remove(applicationId: string, id: string): Promise<void>;
  };
  readonly machines: {
    list(applicationId: string): Promise<MachineView[]>;
    /** Cuts the machine off within a second. */
    remove(applicationId: string, clientId: string): Promise<void>;
    /**
     * Gives a machine a folder with its key, or changes the permission; it has the key from its next request on. `confirm` is
     * asked about the key of a machine that no folder of the caller's names yet.
     */
    share(applicationId: string, request: GrantRequest, confirm?: ConfirmKey): Promise<ClientGrantView>;
    /**
     * Names a machine that sent no join in the histories of its folders that the caller manages, and seals their keys to it,
     * once `confirm` has said that its key is right. Returns those folders.
     */
    confirm(applicationId: string, clientId: string, confirm: ConfirmKey): Promise<{ id: string; name: string }[]>;
    /** Takes a folder away from a machine, which may have kept its key: rotate the folder. */
    unshare(applicationId: string, clientId: string, folderId: string): Promise<void>;
  };
  /**
   * The folders and vaults that this device knows whose histories name a holder (`user:<id>` or `client:<id>`). One whose
   * access has ended stays there until each is rotated.
   */
  stillNaming(who: string): Promise<Removal["rotate"]>;
  /** Where the audit records of the organization are delivered. Owners and admins change it; auditors list it. */
  readonly siem: {
    list(): Promise<SiemWebhookView[]>;
    create(webhook: NewSiemWebhook): Promise<SiemWebhookView>;
    /** What is not given stays; `credentials` replace all that were set. */
    update(id: string, change: Partial<Omit<NewSiemWebhook, "format">>): Promise<SiemWebhookView>;
    remove(id: string): Promise<void>;
    /** Sends one event, and resolves with what the endpoint said. */
    test(id: string): Promise<SiemTestView>;
  };
  /** Audit records, oldest first, page by page. */
  audit(filter?: AuditFilter): AsyncGenerator<AuditPage, void>;
}

/** Works as a person with a session, or with one that a keeper shares with other processes. */
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
  /** What it makes has an id: an answer without one is not the service's. */
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
          forgetHidden: (ids) => forgetVaultsBut(trust.histories, ids),
          now,
        },
        syncOptions,
      ),
    travel: {
      status: async () => travelModeOf(await send({ method: "GET", path: travelPath })),
      start: async () => travelModeOf(await send({ method: "PUT", path: travelPath, body: { enabled: true } }), true),
      async forgetHidden() {
        await forgetVaultsBut(
          trust.histories,
          (await vaults.list()).map(({ view }) => view.id),
        );
      },
    },
    organizations: {
      list: async () => (await get<AccountView>("/api/account")).organizations,
      current: () => get("/api/org"),
      create: async (name) => createOrganization(send, trust, await current(), name),
      adopt: (confirm) => adoptOrganization(send, trust, confirm),
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
      share: (id, request) => shareFolder(secrets, trust, id, request),
      rename: (id, name) =>
        trust.sign(`folder:${id}`, () =>
          Promise.resolve({
            change: { name },
            send: async (entry) => {
              const answer = await send({ method: "PATCH", path: folderPath(id), body: { name, entry } });
              return { ...askedFor<FolderSummary>(answer, { id }), name };
            },
          }),
        ),
      offer: (id) => offerOf(trust, `folder:${id}`),
      accept: (id) => acceptOffer(trust, `folder:${id}`),
      adopt: async (id, confirm) => adoptFolder(send, trust, await current(), id, confirm),
      trust: (id, confirm) => trust.trustAgain(`folder:${id}`, confirm),
      async unshare(id, userId) {
        await remove(`${folderPath(id)}/members/${encodeURIComponent(userId)}`);
        await rememberEnded(trust.histories, `user:${userId}`, (res) => res === `folder:${id}`);
      },
      rotate: (id) => rotateFolder(secrets, trust, id),
    },
    members: {
      list: () => list("/api/org/members"),
      update: (userId, change) => updateMember(send, trust, userId, change),
      remove: (userId, { force = false } = {}) => removeMember(send, trust, userId, force),
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
      remove: (id) => remove(`/api/org/invites/${encodeURIComponent(id)}`),
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
        askedFor<ApplicationView>(await send({ method: "PATCH", path: application(id), body: change }), { id }),
      async remove(id) {
        const machines = await list<MachineView>(`${application(id)}/clients`);
        await remove(application(id));
        for (const { client_id } of machines) await rememberEnded(trust.histories, `client:${client_id}`, isOfFolder);
      },
    },
    tokens: {
      list: (id) => list(`${application(id)}/tokens`),
      create: (request) => createToken(secrets, trust, request),
      remove: (applicationId, id) => remove(`${application(applicationId)}/tokens/${encodeURIComponent(id)}`),
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
    siem: {
      list: () => list(webhooks),
      create: (given) => post(webhooks, given),
      update: async (id, change) =>
        askedFor<SiemWebhookView>(await send({ method: "PATCH", path: webhook(id), body: change }), { id }),
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
