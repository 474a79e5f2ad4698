export { recordTypes } from "@coffer/contract";
export type { Permission, RecordType, Role, SiemFormat } from "@coffer/contract";
export { isUuid } from "./http/require-requested.ts";
export { bootstrap } from "./machines/bootstrap.ts";
export type { BootstrapOptions, BootstrapRequest } from "./machines/bootstrap.ts";
export { createClient } from "./machines/create-client.ts";
export type { ClientOptions, MachineClient, ResolvedField } from "./machines/create-client.ts";
export { CofferError } from "./errors.ts";
export type { CofferErrorCode, CofferErrorOptions } from "./errors.ts";
export { configurationText, isBootstrapped, parseConfiguration } from "./machines/machine-configuration.ts";
export type { ConfiguredFolder, MachineConfiguration } from "./machines/machine-configuration.ts";
export { checkNewPassword, shortestPassword } from "./people/new-password.ts";
export { formatNotation, notationScheme, parseNotation, parseSecretNotation } from "./secrets/notation.ts";
export type { Notation } from "./secrets/notation.ts";
export type { OfflineOptions, OfflineStorage } from "./http/offline-transport.ts";
export { machineFingerprint } from "./people/own-key.ts";
export { personClient } from "./people/person-client.ts";
export type { PersonClient, PersonClientOptions } from "./people/person-client.ts";
export type { NewSiemWebhook } from "./audit/siem-client.ts";
export { memoryKeeper } from "./people/person-session.ts";
export type { PersonSession, SessionKeeper } from "./people/person-session.ts";
export type { AuditFilter, AuditHead, AuditPage } from "./audit/audit-pages.ts";
export type { SetOptions, SetResult } from "./secrets/change-secret.ts";
export type { FolderSummary } from "./folders/create-folder.ts";
export type { NewToken, TokenRequest } from "./machines/create-token.ts";
export type { Secret } from "./secrets/sealed-secret.ts";
export type { SecretsClient, SecretsClientOptions } from "./secrets/secrets-client.ts";
export type { NextQuestion, SecretChange, Watch, WatchOptions } from "./secrets/watch-secrets.ts";
export type { Fingerprint } from "@coffer/crypto";
export { fingerprintOf } from "./people/public-key.ts";
export type { ConfirmKey, KeyHolder } from "./people/public-key.ts";
export type { SecretPart, UnopenedSecret } from "./secrets/reseal-secret.ts";
export type { RotatedFolder } from "./folders/rotate-folder.ts";
export type { AdoptedHolder, Adoption, ConfirmHolders } from "./histories/adopt.ts";
export type { ClosedInvitation } from "./histories/close-invitations.ts";
export type { RotationHolder, RotationReport } from "./histories/next-key.ts";
export type { AcceptOffer, Offer } from "./trust/offer.ts";
export type { ShownInvitation } from "./histories/invite-member.ts";
export type { Removal } from "./histories/remove-member.ts";
export type { GoesBack } from "./trust/goes-back.ts";
export type { LeftAsKnown, Trustworthy } from "./trust/trust-keyring.ts";
export { emptyTrust, memoryTrust, newestPin, withExpected } from "./trust/trust-storage.ts";
export type { Trusted, TrustRecord, TrustStorage } from "./trust/trust-storage.ts";
export type { ListedFolder } from "./people/person-store.ts";
export type { GrantRequest } from "./folders/grant-folder.ts";
export type { ShareRequest } from "./folders/share-folder.ts";
export type { WebSocketConstructor, WebSocketLike } from "./sync/connection.ts";
export type { SyncChange, SyncedRecord } from "./sync/open-changes.ts";
export type { SyncOptions } from "./sync/follow.ts";
export type { Sync } from "./sync/sync-client.ts";
export type { RecordChange } from "./vaults/change-record.ts";
export type { ImportOptions, ImportResult, NewRecord } from "./vaults/import-records.ts";
export type { Vault } from "./vaults/open-vault.ts";
export type { RecordFilter, RecordsClient } from "./vaults/records-client.ts";
export type { VaultRecord } from "./vaults/sealed-record.ts";
export type { RotatedVault } from "./vaults/rotate-vault.ts";
export type { FolderMember } from "./folders/folder-members.ts";
export type { VaultMember } from "./vaults/share-vault.ts";
export type { VaultsClient } from "./vaults/vaults-client.ts";
export type { VaultGrantView, VaultMemberView } from "./vaults/views.ts";
export { canonicalUrl, safeUrl } from "./http/transport.ts";
export type { TransportOptions } from "./http/transport.ts";
export type { UsableFolder } from "./folders/usable-folder.ts";
export type {
  AccountView,
  ApplicationView,
  ClientGrantView,
  ClientView,
  FolderMemberView,
  HolderView,
  InviteView,
  MemberView,
  SessionListItem,
  FolderView,
  MachineView,
  OrganizationView,
  SiemTestView,
  SiemWebhookView,
  TokenView,
  TravelModeView,
  UserView,
  WriteView,
} from "./views.ts";
