import type { Resource } from "@coffer/history";
import { CofferError } from "../errors.ts";
import { confirmMachine, grantFolder, type GrantRequest } from "../folders/grant-folder.ts";
import { closeDeadInvitations, type ClosedInvitation, removeToken } from "../histories/close-invitations.ts";
import { requireRequested } from "../http/require-requested.ts";
import type { PersonApi, PersonContext } from "../people/person-context.ts";
import type { ConfirmKey } from "../people/public-key.ts";
import { ignoreTrouble, rememberEnded, rememberRevoked } from "../trust/ended.ts";
import type { ApplicationView, ClientGrantView, MachineView, TokenView } from "../views.ts";
import { createToken, type NewToken, type TokenRequest } from "./create-token.ts";

/** The applications of an organization, to which its machines belong. */
export interface ApplicationsClient {
  list(): Promise<ApplicationView[]>;
  create(name: string, description?: string): Promise<ApplicationView>;
  /** Fields that are not given are not changed. */
  update(id: string, change: { name?: string | undefined; description?: string | undefined }): Promise<ApplicationView>;
  /** Also revokes its machines. Returns the invitations that were closed, as for one machine. */
  remove(id: string): Promise<ClosedInvitation[]>;
}

/** One-time access tokens, with which machines bootstrap. */
export interface TokensClient {
  list(applicationId: string): Promise<TokenView[]>;
  /**
   * Makes a one-time token here and seals the folder keys for it. The service gets only its hash.
   */
  create(request: TokenRequest): Promise<NewToken>;
  /**
   * Revokes it, and closes it in the histories of its folders that the caller manages. Returns those. A
   * spent token is a `conflict`, unless its machine has not joined.
   */
  remove(applicationId: string, id: string): Promise<ClosedInvitation[]>;
}

/** The machines of an application. */
export interface MachinesClient {
  list(applicationId: string): Promise<MachineView[]>;
  /**
   * Revokes the machine, which takes effect within a second. Then closes the invitations of machines
   * that are gone in the histories of folders that the caller manages, and returns them: one that has
   * not joined could join later.
   */
  remove(applicationId: string, clientId: string): Promise<ClosedInvitation[]>;
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
}

const application = (id: string): string => `/api/org/applications/${encodeURIComponent(id)}`;
const client = (applicationId: string, id: string): string =>
  `${application(applicationId)}/clients/${encodeURIComponent(id)}`;
const granted = (applicationId: string, clientId: string, folderId: string): string =>
  `${client(applicationId, clientId)}/folders/${encodeURIComponent(folderId)}`;

/**
 * Reads the histories of the caller's folders, as far as possible: a device stores that a machine's access
 * has ended only in those that it knows. The person's other devices may know some that the service
 * does not list.
 */
async function readHistories({ trust, secrets }: PersonContext): Promise<void> {
  await trust.histories.learned("folder:").catch(ignoreTrouble);
  await secrets.listed().catch(ignoreTrouble);
}

export function applicationsClient(context: PersonContext): ApplicationsClient {
  const { api, trust, secrets } = context;
  const { send, list, post, remove } = api;
  return {
    list: () => list("/api/org/applications"),
    create: (name, description) => post("/api/org/applications", { name, description }),
    update: async (id, change) =>
      requireRequested<ApplicationView>(await send({ method: "PATCH", path: application(id), body: change }), { id }),
    async remove(id) {
      await readHistories(context);
      const machines = await list<MachineView>(`${application(id)}/clients`);
      const ended = machines.map(({ client_id }) => `client:${client_id}` as const);
      await rememberRevoked(trust.histories, ended, () => remove(application(id)));
      await secrets.listed();
      return closeDeadInvitations(send, trust);
    },
  };
}

export function tokensClient({ api, trust, secrets }: PersonContext): TokensClient {
  const { send, list } = api;
  return {
    list: (id) => list(`${application(id)}/tokens`),
    create: (request) => createToken(secrets, trust, request),
    async remove(applicationId, id) {
      await secrets.listed();
      return removeToken(send, trust, applicationId, id);
    },
  };
}

export function machinesClient(context: PersonContext): MachinesClient {
  const { api, trust, secrets } = context;
  const { send, list, remove } = api;
  return {
    list: (id) => list(`${application(id)}/clients`),
    async remove(applicationId, id) {
      await readHistories(context);
      await rememberRevoked(trust.histories, [`client:${id}`], () => remove(client(applicationId, id)));
      await secrets.listed();
      return closeDeadInvitations(send, trust);
    },
    share: async (applicationId, request, confirm) => {
      const machine = await machineOf(api, applicationId, request.clientId);
      const path = granted(applicationId, request.clientId, request.folderId);
      return grantFolder(secrets, trust, machine, request, path, confirm);
    },
    confirm: async (applicationId, clientId, confirm) =>
      confirmMachine(secrets, trust, await machineOf(api, applicationId, clientId), confirm, (folderId) =>
        granted(applicationId, clientId, folderId),
      ),
    async unshare(applicationId, clientId, folderId) {
      const isIt = (res: Resource): boolean => res === `folder:${folderId}`;
      const request = (): Promise<void> => remove(granted(applicationId, clientId, folderId));
      await rememberEnded(trust.histories, [`client:${clientId}`], isIt, request);
    },
  };
}

async function machineOf({ list }: PersonApi, applicationId: string, id: string): Promise<MachineView> {
  const machines = await list<MachineView>(`${application(applicationId)}/clients`);
  const machine = machines.find(({ client_id }) => client_id === id);
  if (machine === undefined) throw new CofferError("not_found", `there is no machine ${id} that you may see`);
  return machine;
}
