// What the page and the worker say to each other. The page gets what a screen shows, and never a key or a token.

import type { PagePath } from "./paths.ts";

/** `starting` until the worker has answered. */
export type Phase = "starting" | "signed-out" | "locked" | "unlocked";

export type Connection =
  | { kind: "connecting" }
  | { kind: "live" }
  /** `since`: Unix milliseconds of the last moment at which everything was known; null when never. */
  | { kind: "away"; since: number | null };

export interface VaultSummary {
  id: string;
  name: string;
  type: string;
  permission: string;
  safeForTravel: boolean;
  records: number;
  /** Why its key is not used, such as `not_accepted`; null when it is used. */
  problem: string | null;
}

/** A record as a list shows it, without secrets. */
export interface RecordSummary {
  id: string;
  vaultId: string;
  type: string;
  name: string;
  username: string;
  host: string;
  hasPassword: boolean;
  hasCode: boolean;
  updatedAt: string;
  /** The searchable text, without case and accents. */
  searched: string;
}

/** After so many minutes without a key or a click the session may lock. */
export const lockMinutes = [1, 5, 15, 30, 60] as const;

/** The choices for this browser. */
export interface Settings {
  /** Two letters; empty for the browser's own language. */
  language: string;
  lockMinutes: (typeof lockMinutes)[number];
  /** Whether single keys act, such as `c` for the password. */
  singleKeys: boolean;
  /** The id of the organization that the screens are about; empty for the one that the person joined first. */
  organization: string;
}

/** A passkey that opens a session in this browser. */
export interface PasskeyView {
  /** The id of the credential, base64url. */
  id: string;
  /** What its PRF is asked for, base64url. */
  salt: string;
  /** By the person. */
  name: string;
  addedAt: string;
}

/** The answer of a passkey. */
export interface PasskeyAnswer {
  /** The id of the credential, base64url. */
  id: string;
  /** The output of its PRF, 32 bytes. */
  prf: ArrayBuffer;
}

export interface State {
  phase: Phase;
  user: { id: string; email: string; name: string | null } | null;
  /** Why there is no session any more, after one ended that the person did not end. */
  endedBecause: "revoked" | "attempts" | null;
  connection: Connection;
  vaults: VaultSummary[];
  settings: Settings;
  /** Of the person; while no one is signed in, of all that have one here. */
  passkeys: PasskeyView[];
}

export interface RecordField {
  key: string;
  /** Empty for a secret, which `reveal` gives. */
  value: string;
  secret: boolean;
}

export interface RecordDetail {
  id: string;
  vaultId: string;
  type: string;
  updatedAt: string;
  fields: RecordField[];
}

export interface OneTimeCode {
  code: string;
  /** Unix milliseconds at which another code begins. */
  until: number;
  periodSeconds: number;
}

/** Each optional text is empty when it is not given. */
export interface NewAccount {
  email: string;
  password: string;
  name: string;
  organization: string;
  invitation: string;
}

export type Changes = Record<string, string | null>;

/** A record that was changed elsewhere since the person began. */
export interface Conflict {
  updatedAt: string;
  /** The other values of the fields that the person changed. A field that is not there was removed. */
  theirs: Record<string, string>;
}

/** The characters beside small letters that a new password may have. */
export const characterSets = ["capitals", "digits", "symbols"] as const;
export type CharacterSet = (typeof characterSets)[number];

export interface NewPassword {
  kind: "characters" | "words";
  length: number;
  /** Characters that a site refuses. */
  without?: readonly CharacterSet[];
}

export interface OfferView {
  name: string;
  from: string;
  organization: string | null;
  /** Whether the person uses another one of that name, which the service could hide. */
  isTaken: boolean;
}

/** A session of the person, on this or another device. */
export interface DeviceView {
  name: string;
  lastUsedAt: string;
  current: boolean;
}

export interface TravelView {
  enabled: boolean;
  /** Since when; null when it was never switched. */
  since: string | null;
  devices: DeviceView[];
}

export type Permission = "read" | "write" | "manage";

/** A folder or vault that several may hold. */
export interface Shared {
  kind: "folder" | "vault";
  id: string;
}

export interface HolderView {
  kind: "user" | "client";
  id: string;
  /**
   * The e-mail in the organization's history. For a machine, and for a member whom the history does not name: the name
   * that the service shows.
   */
  name: string;
  permission: Permission;
  /** Why the member has no key; null when the member has it. */
  problem: "holder_unconfirmed" | "key_pending" | null;
  /** The member's access has ended, and the history will say so with the next rotation. */
  ended: boolean;
}

export interface SharingView {
  holders: HolderView[];
  /** Who could get it: members of its organization by the history. Empty unless the person manages it. */
  colleagues: { id: string; email: string }[];
}

/** The failures of a rotation. */
export interface Rotated {
  /** Members and machines who did not get it. */
  without: string[];
  /** Secrets that could not be opened, and are sealed under no new key. */
  unopened: string[];
}

/** A folder or vault that needs a new key: its history still names a removed member or machine. */
export interface ToRotate extends Shared {
  name: string;
}

export interface AuditWish {
  /** The id of the organization; null for the one that the screens are about. */
  organization: string | null;
  /** Empty for every action, outcome and actor. */
  action: string;
  outcome: string;
  actor: string;
  /** Days as YYYY-MM-DD in the person's time, both included; empty for no limit. */
  from: string;
  to: string;
  /** So many of the newest records, at most 1,000. */
  limit: number;
}

export interface AuditRow {
  seq: number;
  time: string;
  action: string;
  outcome: string;
  actor: string;
  target: string;
  ip: string;
  /** The whole record as JSON. */
  record: string;
}

export interface AuditView {
  /** The organization whose records these are; null when the person may not read them. */
  organization: string | null;
  /** The members, for the choice of an actor. */
  members: { id: string; email: string }[];
  rows: AuditRow[];
  /** Records of the whole chain. */
  count: number;
}

export interface ChainView {
  count: number;
  /** Where the chain breaks, and how; null when it is whole. */
  broken: { seq: number; problem: string } | null;
  /** Events that were lost by the service's own record. */
  gaps: number;
  /** The record up to which this browser had verified it before; 0 when it had not. */
  before: number;
}

/** An organization, folder or shared vault, whose history its managers sign. */
export interface HistoryName {
  kind: "org" | "folder" | "vault";
  id: string;
  name: string;
}

export interface HistoryView extends HistoryName {
  /** How many entries this browser has verified; 0 for none. */
  entries: number;
  /** Why nothing of it is used, such as `history_rolled_back`; null when it is used. */
  problem: string | null;
}

export interface TrustView {
  histories: HistoryView[];
  /** Why this browser does not use what the person's devices share about histories; null when it does. */
  keyring: string | null;
}

/** A history as the service shows it now, before it is trusted. */
export interface ShownHistory {
  res: string;
  name: string;
  /** The e-mail of the newest signer, and the fingerprint of the key: six words. */
  signer: string;
  words: string;
  /** An entry that this browser has seen and that it does not have, and the newest one that is shown. */
  back: { seen: number; shown: number } | null;
}

/** An invitation as the signed history of the organization has it. */
export interface InvitationView {
  organization: string;
  from: string;
  /** Whether it is for the person's own e-mail. */
  isYours: boolean;
}

/** The proof of the person, once more. `code` is empty until one is asked for. */
export interface Proof {
  password: string;
  code: string;
}

export interface SessionView {
  id: string;
  name: string;
  lastUsedAt: string;
  ip: string | null;
  current: boolean;
}

/** `start_again`: after too many wrong codes. */
export type ConfirmedFactor =
  | {
      /** Each counts once. */
      recoveryCodes: string[];
    }
  | { refused: "wrong_code" | "start_again" };

export interface AccountView {
  hasSecondFactor: boolean;
  /** The fingerprint of the person's own key: six words. */
  words: string;
  sessions: SessionView[];
}

export interface FolderView {
  id: string;
  name: string;
  permission: Permission;
  /** Why its key is not used; null when it is. */
  problem: string | null;
}

/** A secret as a list shows it: the names of its fields, without values. */
export interface SecretView {
  uid: string;
  title: string;
  folderId: string;
  fields: string[];
  updatedAt: string;
  /** From this moment on machines do not get it; null for never. */
  expiresAt: string | null;
  expired: boolean;
}

export interface ReaderView {
  name: string;
  isMachine: boolean;
  /** It was among others in a list; otherwise it was read by itself. */
  inLists: boolean;
  count: number;
  lastAt: string;
  ip: string | null;
}

/** `isYours`: whether the person may read the audit. `since`: earlier reads are not among these. */
export type ReadersView = { isYours: true; readers: ReaderView[]; since: string } | { isYours: false };

export interface FoldersView {
  folders: FolderView[];
  secrets: SecretView[];
}

export interface MatrixView {
  /** The folders that the person can open. */
  folders: { id: string; name: string; mayChange: boolean }[];
  rows: MatrixRow[];
}

/** One field of the secrets of one title. */
export interface MatrixRow {
  title: string;
  field: string;
  /** From 1. Two secrets of a folder that have one title are in two rows. */
  copy: number;
  /** One for each folder, in the order of the folders; null where the folder has no such field. */
  cells: (MatrixCell | null)[];
}

export interface MatrixCell {
  uid: string;
  /** Equal numbers in a row are equal values. */
  value: number;
}

export interface MachineView {
  id: string;
  name: string;
  status: "active" | "revoked" | "expired";
  /** The fingerprint of its key: six words. */
  words: string;
  /** Null when it has made no request yet. */
  lastUsedAt: string | null;
  ip: string | null;
  expiresAt: string | null;
  folders: { id: string; name: string; permission: Permission }[];
}

export interface ApplicationView {
  machines: MachineView[];
  /** Tokens that no machine has used. */
  tokens: { id: string; name: string; expiresAt: string }[];
}

export interface ApplicationsView {
  applications: { id: string; name: string }[];
  /** The folders that the person may give to machines. */
  folders: { id: string; name: string }[];
}

/** Each moment is ISO 8601; null leaves it to the service: one day for the token, no end for the machine. */
export interface TokenWish {
  /** The name of the application. It is made when there is none. */
  application: string;
  folders: { folderId: string; permission: "read" | "write" }[];
  /** Networks in CIDR notation that the machine may call from; empty for every address. */
  networks: string[];
  expiresAt: string | null;
  machineExpiresAt: string | null;
}

/** A one-time token. It is shown once. */
export interface MachineToken {
  token: string;
  expiresAt: string;
}

export type DestinationFormat = "hec" | "log_analytics" | "logs_intake" | "ecs";

export interface DestinationView {
  id: string;
  /** Its address, when it has no name. */
  name: string;
  format: DestinationFormat;
  url: string;
  enabled: boolean;
  /** Null before the first delivery. `status`: of the answer; null without one. */
  lastDelivery: { status: number | null; at: string; error: string | null } | null;
}

export interface DestinationsView {
  maySee: boolean;
  mayManage: boolean;
  destinations: DestinationView[];
}

/** A destination's response to a test event. */
export interface TestedView {
  ok: boolean;
  status: number | null;
  error: string | null;
}

export type Role = "owner" | "admin" | "member" | "auditor";

/** A member as an administrator sees them. */
export interface PersonDetail {
  id: string;
  /** The fingerprint of the member's key: six words. */
  words: string;
  /** Whether the organization's history names the key. `changed`: the service shows another one than the history. */
  key: "confirmed" | "unconfirmed" | "changed";
  sessions: SessionView[];
  /** The folders and vaults, of those that this browser knows, that name the person. */
  holds: ToRotate[];
}

export interface PersonView {
  id: string;
  /** From the organization's history. The service's word for an unconfirmed member, and without a history. */
  email: string;
  name: string;
  role: Role;
  status: "active" | "suspended";
  /**
   * `unconfirmed`: the history does not name the member. `ended`: the history names a person whom the service does not
   * list, so that the removal must be signed.
   */
  problem: "unconfirmed" | "ended" | null;
}

export interface PeopleView {
  /** The name of the organization; null without one. */
  organization: string | null;
  /** Whether the person may invite, change roles and remove. */
  mayManage: boolean;
  members: PersonView[];
  invitations: { id: string; email: string; role: Role; expiresAt: string }[];
}

/** The person's organizations, under the names of their histories. */
export interface OrganizationsView {
  organizations: { id: string; name: string }[];
  /** The id of the one that the screens are about; null without one. */
  current: string | null;
}

export interface OrganizationView {
  /** The one that the screens are about; null without one. */
  current: { id: string; name: string; role: string; plan: string; createdAt: string } | null;
  /** The newest events of billing. Empty for who may not read the audit. */
  billing: { seq: number; time: string; action: string; outcome: "success" | "denied" | "failure" }[];
}

/** A part of a file that becomes no record. */
export interface NotImported {
  /** The name of the item; null when it is about the whole file. */
  item: string | null;
  reason: string;
}

/** A file of another password manager, before it is imported. No value is among it. */
export interface ImportView {
  /** For `importFile`. */
  plan: string;
  format: string;
  /** Records that would be imported. */
  count: number;
  /** Records that the vault has from an earlier import. */
  present: number;
  /** The first of those that would be imported. */
  names: { type: string; name: string }[];
  leftOut: NotImported[];
  notes: string[];
}

export interface Imported {
  imported: number;
  failed: NotImported[];
  /** Records of the file that are still to import. */
  left: number;
}

export const exportFormats = [
  "coffer-json",
  "bitwarden-json",
  "bitwarden-csv",
  "1pux",
  "keepass-xml",
  "chrome-csv",
  "lastpass-csv",
] as const;

/** A vault in the format of another program. */
export interface ExportedVault {
  /** It holds every secret in the clear. */
  file: Blob;
  /** Records in the vault that could be read. */
  count: number;
  /** Records that the service counts beside them. */
  missing: number;
  /** What the format cannot hold. */
  leftOut: NotImported[];
  notes: string[];
}

/** Something that waits for the person. */
export interface ToDoItem {
  kind:
    | "unconfirmed"
    | "ended"
    | "without_key"
    | "key_changed"
    | "offer"
    | "locked"
    | "secret_expires"
    | "secret_expired"
    | "machine_unseen"
    | "machine_ends"
    | "token_unused"
    | "destination";
  name: string;
  /** The folder, vault or application, or the code of a problem. May be empty. */
  of: string;
  at: string | null;
  /** Where it is done. */
  path: PagePath;
  openId: string | null;
}

export interface ToDoView {
  rotate: ToRotate[];
  items: ToDoItem[];
}

/** The calls of the page. Each result is a plain value. */
export interface Calls {
  /** `code`: the account has a second factor; `giveCode` goes on. */
  signIn(input: { email: string; password: string }): "done" | "code";
  giveCode(code: string): "done" | "code";
  /**
   * Sets a new password with the recovery key, and makes another recovery key. The account is not used before
   * `keptRecoveryKey`. Fails with `code_needed` when the account has a second factor and `code` is empty.
   */
  recover(input: { email: string; recoveryKey: string; newPassword: string; code: string }): { recoveryKey: string };
  /** The new account is not used before `keptRecoveryKey`. */
  register(input: NewAccount): { recoveryKey: string };
  /** Begins the session of `recover` or `register`. The page proves itself with the recovery key from there. */
  keptRecoveryKey(recoveryKey: string): null;
  unlock(password: string): null;
  /** Opens the session that the passkey has sealed. Fails with `passkey_refused` when it opens none. */
  unlockPasskey(answer: PasskeyAnswer): null;
  /** The salt for a new passkey. Fails with `wrong_password`, and counts as `unlock` does. */
  startPasskey(password: string): { salt: string };
  /** The passkey that was made with this salt. Replaces the one before. */
  addPasskey(input: PasskeyAnswer & { name: string }): null;
  /** Of the person; while no one is signed in, all, with the copies of their vaults. */
  removePasskeys(): null;
  lock(): null;
  signOut(): null;
  /** The person does something: puts off the idle lock. */
  touch(): null;
  changeSettings(part: Partial<Settings>): null;
  createVault(input: { name: string; type: "personal" | "shared" }): { id: string };
  offer(shared: Shared): OfferView;
  /** `name`: the one that the person was shown. */
  acceptOffer(shared: Shared & { name: string }): null;
  sharing(shared: Shared): SharingView;
  /** Gives a member the folder or vault, or changes the permission. */
  share(input: Shared & { userId: string; permission: Permission }): SharingView;
  /** Ends a member's access and gives the folder or vault a new key. */
  unshare(input: Shared & { userId: string }): { sharing: SharingView; rotated: Rotated };
  rotate(shared: Shared): Rotated;
  rename(input: Shared & { name: string }): null;
  /** Deletes it with all that it holds. */
  remove(shared: Shared): null;
  createRecord(input: { vaultId: string; type: string; fields: Record<string, string> }): { id: string };
  readRecord(id: string): RecordDetail;
  /** One field of a record, to show, edit or copy it. */
  reveal(input: { id: string; key: string }): string;
  oneTimeCode(id: string): OneTimeCode;
  /** Changes these fields, null removes one; unless the record was changed since `updatedAt`. */
  saveRecord(input: { id: string; changes: Changes; updatedAt: string }): { conflict: Conflict | null };
  removeRecord(id: string): null;
  newPassword(wish: NewPassword): string;
  travel(): TravelView;
  /** Whether a vault stays while the person travels. */
  setSafeForTravel(input: { vaultId: string; safe: boolean }): null;
  startTravel(): TravelView;
  folders(): FoldersView;
  createFolder(name: string): FoldersView;
  secretValue(input: { uid: string; field: string }): string;
  setSecret(input: { folderId: string; title: string; field: string; value: string }): FoldersView;
  /** Who has read it in the last 90 days. */
  secretReaders(input: { uid: string; folderId: string }): ReadersView;
  /** `expiresAt`: null for never. */
  setExpiry(input: { uid: string; expiresAt: string | null }): FoldersView;
  removeSecret(uid: string): FoldersView;
  matrix(): MatrixView;
  setCell(input: { folderId: string; title: string; field: string; value: string }): MatrixView;
  /** `uid`: the secret whose value is copied into the folder. */
  copyValue(input: { uid: string; title: string; field: string; folderId: string }): MatrixView;
  /** The variables of a dotenv file. `wrongLine`: nothing was set, because this line sets nothing. */
  pasteEnv(input: { folderId: string; text: string }): { view: MatrixView; count: number } | { wrongLine: number };
  applications(): ApplicationsView;
  application(id: string): ApplicationView;
  removeApplication(id: string): { view: ApplicationsView; rotate: ToRotate[] };
  revokeMachine(input: { applicationId: string; clientId: string }): {
    application: ApplicationView;
    rotate: ToRotate[];
  };
  /** `closed` is false when no folder's history that the person signs had its invitation open. */
  withdrawToken(input: { applicationId: string; id: string }): { application: ApplicationView; closed: boolean };
  createMachineToken(wish: TokenWish): MachineToken;
  people(): PeopleView;
  /** `invitation` is for the invited person, and is shown once. */
  invite(input: { email: string; role: Role }): { people: PeopleView; invitation: string };
  withdraw(input: { id: string; email: string }): PeopleView;
  setRole(input: { userId: string; role: Role }): PeopleView;
  removeMember(userId: string): { people: PeopleView; rotate: ToRotate[] };
  person(userId: string): PersonDetail;
  /** Signs the member's key with the e-mail and role that the person has seen, if it has these words. */
  confirmMember(input: { userId: string; email: string; role: Role; words: string }): PersonDetail;
  /** `sessionId`: null ends all. */
  endMemberSession(input: { userId: string; sessionId: string | null }): PersonDetail;
  setMemberStatus(input: { userId: string; status: PersonView["status"] }): PeopleView;
  setMemberTravel(input: { userId: string; enabled: boolean }): null;
  /** What the invitation itself proves; null when nothing does. */
  invitation(invitation: string): InvitationView | null;
  /** Joins the organization of an invitation. Its name. */
  join(invitation: string): string;
  /** Reads a file in the worker. Fails with `import_…` and the code of an ImportError. */
  readFile(input: { file: File; vaultId: string }): ImportView;
  /**
   * Imports the next records of the file of `readFile`, so that the page can show how far it is. Fails with
   * `import_replaced` if a page has read another file since.
   */
  importFile(plan: string): Imported;
  /** All records of a vault. Fails with `wrong_password`, and counts as `unlock` does. */
  exportVault(input: { vaultId: string; format: (typeof exportFormats)[number]; password: string }): ExportedVault;
  toDo(): ToDoView;
  organizations(): OrganizationsView;
  organization(): OrganizationView;
  createOrganization(name: string): OrganizationView;
  destinations(): DestinationsView;
  createDestination(input: {
    format: DestinationFormat;
    url: string;
    credentials: Record<string, string>;
  }): DestinationsView;
  switchDestination(input: { id: string; enabled: boolean }): DestinationsView;
  removeDestination(id: string): DestinationsView;
  testDestination(id: string): TestedView;
  audit(wish: AuditWish): AuditView;
  /** All records of the wish, oldest first, as lines of JSON. */
  exportAudit(wish: AuditWish): { file: Blob; count: number };
  /** Recomputes the whole chain of an organization, and remembers its end for the next time. */
  verifyAudit(organization: string): ChainView;
  trust(): TrustView;
  /** What `trustShown` would trust: one history, or with null all that the service shows. */
  shownHistories(one: HistoryName | null): ShownHistory[];
  /** Trusts what the person has compared. Fails with `access_denied` if the service shows something else now. */
  trustShown(input: { one: HistoryName | null; compared: ShownHistory[] }): TrustView;
  // Those with a Proof fail with `code_needed` when the account has a second factor and `code` is empty.
  stopTravel(proof: Proof): TravelView;
  account(): AccountView;
  /** Null ends all but this one. */
  endSession(id: string | null): AccountView;
  startSecondFactor(proof: Proof): { secret: string; address: string };
  /** Switches it on. */
  confirmSecondFactor(code: string): ConfirmedFactor;
  stopSecondFactor(proof: Proof): AccountView;
  /** `recoveryKey` is the new one, when it was asked for. */
  changePassword(input: Proof & { newPassword: string; newRecoveryKey: boolean }): { recoveryKey: string | null };
}

export type CallName = keyof Calls;

export interface CallFailure {
  /** A code of CofferError, or of the console: `wrong_password`, `unexpected`. */
  code: string;
  message: string;
  retryAfterSeconds: number | null;
}

export type ToWorker = {
  [Name in CallName]: { id: number; name: Name; input: Parameters<Calls[Name]>[0] };
}[CallName];

export type FromWorker =
  | { kind: "answer"; id: number; value: unknown }
  | { kind: "failure"; id: number; failure: CallFailure }
  | { kind: "state"; state: State }
  /** `all`: these are all records, by name; otherwise they replace and join those that the page has. */
  | { kind: "records"; all: boolean; changed: RecordSummary[]; removed: string[] };
