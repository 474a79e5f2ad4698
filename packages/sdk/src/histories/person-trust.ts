import { kindOf } from "@coffer/history";
import type { HistoryState, Resource } from "@coffer/history";
import { CofferError } from "../errors.ts";
import { personUnsealing } from "../folder-key.ts";
import type { PersonSession } from "../person-session.ts";
import type { ConfirmKey } from "../public-key.ts";
import type { ApiAnswer, ApiRequest } from "../transport.ts";
import type { OrganizationView } from "../views.ts";
import { labelOf } from "./confirmed-key.ts";
import { deviceKeyring } from "./device-keyring.ts";
import { histories } from "./histories.ts";
import type { Histories, Verified } from "./histories.ts";
import { personEntries } from "./read-entries.ts";
import { personSelf } from "./self.ts";
import type { Self } from "./self.ts";
import { signChange } from "./sign-change.ts";
import type { SignedRequest, SignOptions } from "./sign-change.ts";
import { trustAgain } from "./trust-again.ts";
import type { FolderTrust } from "./trusted-folder.ts";
import type { KeyTrust } from "./trusted-key.ts";
import type { TrustStorage } from "./trust-storage.ts";
import { vaultPins } from "./vault-pins.ts";
import type { VaultPins } from "./vault-pins.ts";

/** What a person trusts, and signs. */
export interface PersonTrust {
  readonly histories: Histories;
  self(): Promise<Self>;
  /** The organization that the calls are about, up to its newest entry. A chosen one is not the service's to say. */
  organization(): Promise<Verified>;
  /** The organization that the history of a folder or vault names, up to its newest entry. */
  organizationOf(res: Resource): Promise<Verified>;
  /** The caller, and what decides whether a key may be used. */
  keys(): Promise<KeyTrust>;
  /** Whose keys open folders. */
  folders(): Promise<FolderTrust>;
  /** What the person's devices tell each other of vaults. */
  readonly vaultPins: VaultPins;
  /** Signs the next entry of a history, and tells the person's other devices. */
  sign<T>(res: Resource, make: (trusted: Verified) => Promise<SignedRequest<T>>, options?: SignOptions): Promise<T>;
  /** Keeps what the caller has made, joined or accepted, and tells the person's other devices. */
  keep(res: Resource, state: HistoryState): Promise<void>;
  /** Tells the person's other devices what this one trusts, as far as they do not know. */
  share(): Promise<void>;
  /** Trusts a history as the service shows it, once the words were compared, on all devices of the person. */
  trustAgain(res: Resource, confirm: ConfirmKey): Promise<void>;
}

export interface PersonTrustOptions {
  send(request: ApiRequest): Promise<ApiAnswer>;
  session(): Promise<PersonSession>;
  storage: TrustStorage;
  /** The organization that the caller has chosen, by its id. Undefined leaves the choice to the service. */
  organization?: string | undefined;
  /** Hears why the person's other devices could not be told, or asked. */
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
      if (!res.startsWith("vault:")) await keyring.learn();
    },
    learnNow: () => keyring.learnNow(),
    // Entry 0 was signed with one's own key. Of one's own vault the pin says it, which its maker stores at once.
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
  const organization = async (): Promise<Verified> => {
    if (chosen !== undefined) return own.newest(`org:${chosen}`);
    const { id } = (await send({ method: "GET", path: "/api/org" })).body as OrganizationView;
    const { organization: first = id } = await own.record();
    if (first !== id) throw anotherOrganization(first, id);
    const verified = await own.newest(`org:${id}`);
    await own.changeRecord((before) => (before.organization === undefined ? { ...before, organization: id } : before));
    return verified;
  };

  return {
    histories: own,
    self,
    organization,
    async organizationOf(res) {
      const { state } = await own.newest(res);
      return own.newest(`org:${state.org ?? ""}`);
    },
    keys,
    folders: async () => ({ ...(await keys()), unsealing: personUnsealing(await session()), organization: chosen }),
    vaultPins: pins,
    async sign(res, make, options) {
      const result = await signChange(own, await self(), res, make, options);
      await share();
      return result;
    },
    async keep(res, state) {
      await own.keep(res, (before) => ({ ...before, pin: state.head, state, accepted: true }));
      await share();
    },
    share,
    async trustAgain(res, confirm) {
      // First what the others trust: else it would come back with the next version, and undo this.
      await keyring.renew();
      await trustAgain(own, res, confirm);
      await share();
    },
  };
}

/** Where nobody has chosen, the service must not choose now this and now that organization of the person. */
function anotherOrganization(first: string, shown: string): CofferError {
  return new CofferError(
    "bad_answer",
    `the service says that this is about the organization ${shown}, and said ${first} before: name one with --org ` +
      "(`organization` of the SDK)",
  );
}

/** The e-mails of the people who manage a resource; their ids where the organization does not name them. */
async function managersOf(own: Histories, { org, holders }: HistoryState): Promise<string[]> {
  const managers = holders.filter(({ perm }) => perm === "manage");
  const organization = (await own.known(`org:${org ?? ""}`))?.state;
  return managers.map(({ who }) => (organization == null ? who : labelOf(organization, who)));
}
