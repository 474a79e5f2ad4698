import { type Adoption, adoptOrganization, type ConfirmHolders } from "../histories/adopt.ts";
import { createOrganization } from "../histories/organization.ts";
import { nameableOrganizations } from "../trust/known-as.ts";
import type { AccountView, OrganizationView } from "../views.ts";
import type { PersonContext } from "./person-context.ts";
import type { ConfirmKey } from "./public-key.ts";

/** The organizations of a person. */
export interface OrganizationsClient {
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
}

export function organizationsClient({ api, trust, current }: PersonContext): OrganizationsClient {
  const { send, get } = api;
  return {
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
  };
}
