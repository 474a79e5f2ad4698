import { auditPages } from "./audit-pages.ts";
import type { AuditFilter, AuditPage } from "./audit-pages.ts";
import { createFolder } from "./create-folder.ts";
import type { FolderSummary } from "./create-folder.ts";
import { createToken } from "./create-token.ts";
import type { NewToken, TokenRequest } from "./create-token.ts";
import { memoryKeeper, personSender } from "./person-session.ts";
import type { PersonSession, SessionKeeper } from "./person-session.ts";
import { personStore } from "./person-store.ts";
import { dataOf } from "./secret-store.ts";
import { secretsClient } from "./secrets-client.ts";
import type { SecretsClient, SecretsClientOptions } from "./secrets-client.ts";
import { createTransport } from "./transport.ts";
import type { ApiRequest, TransportOptions } from "./transport.ts";
import type { AccountView, ApplicationView, MachineView, OrganizationView, TokenView } from "./views.ts";

export interface PersonClientOptions extends Partial<TransportOptions>, SecretsClientOptions {
  /** Id of the organization that calls are about; without it the service takes the oldest membership. */
  organization?: string | undefined;
}

/** What a person does. Every method throws CofferError. Things are named by their ids. */
export interface PersonClient {
  readonly url: string;
  account(): Promise<AccountView>;
  /** Ends the session on the server; the session that is kept is the caller's to forget. */
  logout(): Promise<void>;
  readonly secrets: SecretsClient;
  readonly organizations: {
    list(): Promise<AccountView["organizations"]>;
    current(): Promise<OrganizationView>;
    create(name: string): Promise<OrganizationView>;
  };
  readonly folders: {
    list(): Promise<FolderSummary[]>;
    /** Makes a folder with a new key that only the caller can open. */
    create(name: string): Promise<FolderSummary>;
    /** With `force` also a folder that holds secrets, and them; else that is `conflict`. It cannot be undone. */
    remove(id: string, options?: { force?: boolean | undefined }): Promise<void>;
  };
  readonly applications: {
    list(): Promise<ApplicationView[]>;
    create(name: string, description?: string): Promise<ApplicationView>;
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
  const secrets = personStore(send, () => keeper.current());

  const get = async <T>(path: string): Promise<T> => (await send({ method: "GET", path })).body as T;
  const list = async <T>(path: string): Promise<T[]> => dataOf(await send({ method: "GET", path })) as T[];
  const post = async <T>(path: string, body: unknown): Promise<T> =>
    (await send({ method: "POST", path, body })).body as T;
  const remove = async (path: string, query?: ApiRequest["query"]): Promise<void> => {
    await send({ method: "DELETE", path, query });
  };
  const application = (id: string): string => `/api/org/applications/${encodeURIComponent(id)}`;

  return {
    url: transport.url,
    account: () => get("/api/account"),
    async logout() {
      await send({ method: "POST", path: "/api/auth/logout", repeatable: true });
    },
    secrets: secretsClient(secrets, options),
    organizations: {
      list: async () => (await get<AccountView>("/api/account")).organizations,
      current: () => get("/api/org"),
      create: (name) => post("/api/orgs", { name }),
    },
    folders: {
      list: () => list("/api/org/folders"),
      create: async (name) => createFolder(send, await keeper.current(), name),
      remove: (id, { force = false } = {}) =>
        remove(`/api/org/folders/${encodeURIComponent(id)}`, force ? { force: "true" } : undefined),
    },
    applications: {
      list: () => list("/api/org/applications"),
      create: (name, description) => post("/api/org/applications", { name, description }),
      remove: (id) => remove(application(id)),
    },
    tokens: {
      list: (id) => list(`${application(id)}/tokens`),
      create: async (request) => createToken(send, await secrets.folders(true), request),
      remove: (applicationId, id) => remove(`${application(applicationId)}/tokens/${encodeURIComponent(id)}`),
    },
    machines: {
      list: (id) => list(`${application(id)}/clients`),
      remove: (applicationId, id) => remove(`${application(applicationId)}/clients/${encodeURIComponent(id)}`),
    },
    audit: (filter) => auditPages(send, filter),
  };
}
