import { type HistoryState, kindOf, type Resource } from "@coffer/history";
import { CofferError } from "../errors.ts";
import { personUnsealing } from "../folders/folder-key.ts";
import { type Histories, histories, type Verified } from "../histories/histories.ts";
import { personEntries } from "../histories/read-entries.ts";
import { personSelf, type Self } from "../histories/self.ts";
import { signChange, type SignedRequest, type SignOptions } from "../histories/sign-change.ts";
import { requireRequested } from "../http/require-requested.ts";
import type { ApiAnswer, ApiRequest } from "../http/transport.ts";
import type { PersonSession } from "../people/person-session.ts";
import type { ConfirmKey } from "../people/public-key.ts";
import type { OrganizationView } from "../views.ts";
import { labelOf } from "./confirmed-key.ts";
import { deviceKeyring } from "./device-keyring.ts";
import { takeName } from "./known-as.ts";
import { trustAgain } from "./trust-again.ts";
import type { TrustStorage } from "./trust-storage.ts";
import type { FolderTrust } from "./trusted-folder.ts";
import type { KeyTrust } from "./trusted-key.ts";
import { type VaultPins, vaultPins } from "./vault-pins.ts";

/** The histories that a person trusts and signs. */
export interface PersonTrust {
  readonly histories: Histories;
  self(): Promise<Self>;
  /**
   * The organization of the calls, up to its newest entry. The service cannot override a chosen
   * one.
   */
  organization(): Promise<Verified>;
  /** The same organization, which may have no history, as the service shows it. */
  shownOrganization(): Promise<OrganizationView>;
  /** The organization that the history of a folder or vault names, up to its newest entry. */
  organizationOf(res: Resource): Promise<Verified>;
  /** The caller, and the rules for the use of a key. */
  keys(): Promise<KeyTrust>;
  /** The same for folders, with the keys that open them. */
  folders(): Promise<FolderTrust>;
  /** Synchronizes the pins of vaults between the person's devices. */
  readonly vaultPins: VaultPins;
  /** Signs the next entry of a history, and publishes the pin to the person's other devices. */
  sign<T>(
    res: Resource,
    make: (trusted: Verified, organization: HistoryState) => Promise<SignedRequest<T>>,
    options?: SignOptions,
  ): Promise<T>;
  /**
   * Stores what the caller has made, joined or accepted, and publishes the pin to the person's
   * other devices.
   * @param checked_at the number of the organization's newest entry when the caller made it. Default:
   * of the newest entry known now
   */
  keep(res: Resource, state: HistoryState, checked_at?: number): Promise<void>;
  /** Publishes this device's pins that the other devices do not have. */
  share(): Promise<void>;
  /**
   * Trusts a history as the service shows it now, after the words were compared, on all devices of
   * the person.
   */
  trustAgain(res: Resource, confirm: ConfirmKey): Promise<void>;
}

export interface PersonTrustOptions {
  send(request: ApiRequest): Promise<ApiAnswer>;
  session(): Promise<PersonSession>;
  storage: TrustStorage;
  /** The id of the chosen organization. Undefined leaves the choice to the service. */
  organization?: string | undefined;
  /** Receives the error when pins could not be exchanged with the person's other devices. */
  onKeyringTrouble?: ((error: CofferError) => void) | undefined;
}

export function personTrust(options: PersonTrustOptions): PersonTrust {
  const { send, session, storage, onKeyringTrouble } = options;
  const self = async (): Promise<Self> => personSelf(await session());
  const keyring = deviceKeyring({ send, session, histories: () => own, onTrouble: onKeyringTrouble });
  const own = histories({
    storage,
    read: personEntries(send),
    self: async () => (await self()).who,
    learn: async (res) => {
      if (res.startsWith("vault:")) await pins.recall(res.slice("vault:".length));
      else await keyring.learn();
    },
    learnNow: () => keyring.learnNow(),
    // Entry 0 was signed with the caller's key. For the caller's own vault the pin proves it, which
    // its maker stores at once.
    accepts: async ({ made, state }) => kindOf(state.res) !== "vault" && made === (await self()).publicKey,
    organizations: true,
  });
  const pins = vaultPins({ send, session, histories: own, onTrouble: onKeyringTrouble });
  const share = async (): Promise<void> => {
    await keyring.save();
    await pins.save();
  };
  const keys = async (): Promise<KeyTrust> => ({
    histories: own,
    self: await self(),
    managers: (state) => managersOf(own, state),
  });

  const chosen = options.organization?.toLowerCase();
  const shownOrganization = async (): Promise<OrganizationView> => {
    const answer = await send({ method: "GET", path: "/api/org" });
    if (chosen !== undefined) return requireRequested<OrganizationView>(answer, { id: chosen });
    const view = answer.body as OrganizationView;
    const { organization: first = view.id } = await own.record();
    if (first !== view.id) throw anotherOrganization(first, view.id);
    return view;
  };
  const organization = async (): Promise<Verified> => {
    if (chosen !== undefined) return own.newest(`org:${chosen}`);
    const { id } = await shownOrganization();
    const verified = await own.newest(`org:${id}`);
    await own.changeRecord((before) => (before.organization === undefined ? { ...before, organization: id } : before));
    return verified;
  };

  /** The organization of the calls, without reading its history; undefined on a device that knows none. */
  const organizationOfCalls = async (): Promise<string | undefined> => {
    if (chosen !== undefined) return chosen;
    const { organization: first, resources } = await own.record();
    const [only, ...others] = Object.keys(resources).filter((res) => res.startsWith("org:"));
    if (first !== undefined || only === undefined) return first;
    return others.length === 0 ? only.slice("org:".length) : (await organization()).state.res.slice("org:".length);
  };

  return {
    histories: own,
    self,
    organization,
    shownOrganization,
    async organizationOf(res) {
      const { state } = await own.newest(res);
      return own.newest(`org:${state.org ?? ""}`);
    },
    keys,
    folders: async () => ({
      ...(await keys()),
      unsealing: personUnsealing(await session()),
      organization: await organizationOfCalls(),
    }),
    vaultPins: pins,
    async sign(res, make, options) {
      const result = await signChange(own, await self(), res, make, options);
      await share();
      return result;
    },
    async keep(res, state, at) {
      const checked_at = at ?? (await own.known(`org:${state.org ?? ""}`))?.pin.seq;
      await own.keep(res, (before) => ({ checked_at, ...before, pin: state.head, state, accepted: true }));
      await takeName(own, res);
      await share();
    },
    share,
    async trustAgain(res, confirm) {
      // Merge the others' pins first. Otherwise they would come back with the next version and undo
      // this.
      await keyring.renew();
      await trustAgain(own, res, confirm);
      await share();
    },
  };
}

/** Without a choice, the service must not switch between the person's organizations. */
function anotherOrganization(first: string, shown: string): CofferError {
  return new CofferError(
    "bad_answer",
    `the service says that this is about the organization ${shown}, and said ${first} before: name one with --org ` +
      "(`organization` of the SDK)",
  );
}

/** The e-mails of the managers; their ids where the organization's history does not name them. */
async function managersOf(own: Histories, { org, holders }: HistoryState): Promise<string[]> {
  const managers = holders.filter(({ perm }) => perm === "manage");
  const organization = (await own.known(`org:${org ?? ""}`))?.state;
  return managers.map(({ who }) => (organization == null ? who : labelOf(organization, who)));
}
