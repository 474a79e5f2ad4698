import type { Fingerprint } from "@coffer/crypto";
import { type AuditFilter, type AuditPage, auditPages } from "../audit/audit-pages.ts";
import { type SiemClient, siemClient } from "../audit/siem-client.ts";
import { CofferError } from "../errors.ts";
import { type FoldersClient, foldersClient } from "../folders/folders-client.ts";
import { type Named, named, type Removal, stillNaming } from "../histories/remove-member.ts";
import { createTransport, type TransportOptions } from "../http/transport.ts";
import {
  type ApplicationsClient,
  applicationsClient,
  type MachinesClient,
  machinesClient,
  type TokensClient,
  tokensClient,
} from "../machines/machines-client.ts";
import { type SecretsClient, secretsClient, type SecretsClientOptions } from "../secrets/secrets-client.ts";
import type { SyncOptions } from "../sync/follow.ts";
import { startSync, type Sync } from "../sync/sync-client.ts";
import type { AcceptOffer } from "../trust/offer.ts";
import { personTrust } from "../trust/person-trust.ts";
import { type LeftAsKnown, trustKeyring, type Trustworthy } from "../trust/trust-keyring.ts";
import { memoryTrust, type TrustStorage } from "../trust/trust-storage.ts";
import { type RecordsClient, recordsClient } from "../vaults/records-client.ts";
import { vaultStore } from "../vaults/vault-store.ts";
import { type VaultsClient, vaultsClient } from "../vaults/vaults-client.ts";
import type { AccountView, SessionListItem, TravelModeView } from "../views.ts";
import { type InvitesClient, invitesClient, type MembersClient, membersClient } from "./members-client.ts";
import { type OrganizationsClient, organizationsClient } from "./organizations-client.ts";
import { personFingerprint } from "./own-key.ts";
import { personApi } from "./person-context.ts";
import { freshSessions, memoryKeeper, personSender, type PersonSession, type SessionKeeper } from "./person-session.ts";
import { personStore } from "./person-store.ts";
import { travelModeOf } from "./travel-mode.ts";

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

/** The operations of a person. Every method throws CofferError. Objects are named by their ids. */
export interface PersonClient {
  readonly url: string;
  account(): Promise<AccountView>;
  /** The fingerprint of the caller's own key, computed from the private key here. */
  fingerprint(): Promise<Fingerprint>;
  /**
   * The caller's user key as the service stores it for the recovery key. `checkRecoverySeal` of
   * `@coffer/sdk/backup` says whether it is.
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
  readonly organizations: OrganizationsClient;
  /** The key pins that the person's devices share. */
  readonly keyring: {
    /**
     * Starts again from what the service shows, if `ask` confirms it. Returns what stays as this device
     * knows it, because the service shows an older or another state.
     */
    trust(ask: (shown: readonly Trustworthy[]) => Promise<boolean>): Promise<LeftAsKnown[]>;
  };
  readonly folders: FoldersClient;
  readonly members: MembersClient;
  readonly invites: InvitesClient;
  readonly sessions: {
    list(): Promise<SessionListItem[]>;
    end(id: string): Promise<void>;
    endOthers(): Promise<void>;
  };
  readonly applications: ApplicationsClient;
  readonly tokens: TokensClient;
  readonly machines: MachinesClient;
  /**
   * The folders and vaults known to this device whose histories name `who` (`user:<id>` or
   * `client:<id>`). Each names a removed one until it is rotated.
   */
  stillNaming(who: string): Promise<Removal["rotate"]>;
  /**
   * The accepted folders and vaults known to this device, with the members and machines
   * that their histories name (`user:<id>`, `client:<id>`). A former member has the key until a
   * rotation.
   */
  named(): Promise<Named[]>;
  readonly siem: SiemClient;
  /** Audit records, oldest first, page by page. */
  audit(filter?: AuditFilter): AsyncGenerator<AuditPage, void>;
}

const travelPath = "/api/account/travel-mode";

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
  const api = personApi(send);
  const context = { api, trust, secrets, vaults, current };

  return {
    url: transport.url,
    account: () => api.get("/api/account"),
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
    organizations: organizationsClient(context),
    keyring: {
      trust: async (ask) => trustKeyring(send, await current(), trust.histories, trust.vaultPins, ask),
    },
    folders: foldersClient(context),
    members: membersClient(context),
    invites: invitesClient(context),
    sessions: {
      list: () => api.list("/api/auth/sessions"),
      end: (id) => api.remove(`/api/auth/sessions/${encodeURIComponent(id)}`),
      endOthers: () => api.remove("/api/auth/sessions", { others: "true" }),
    },
    applications: applicationsClient(context),
    tokens: tokensClient(context),
    machines: machinesClient(context),
    stillNaming: (who) => stillNaming(trust, who),
    named: () => named(trust),
    siem: siemClient(context),
    audit: (filter) => auditPages(send, filter),
  };
}
