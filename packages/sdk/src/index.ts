export { recordTypes } from "@coffer/contract";
export type { Permission, RecordType, Role, SiemFormat } from "@coffer/contract";
export { isUuid } from "./require-requested.ts";
export { bootstrap } from "./bootstrap.ts";
export type { BootstrapOptions, BootstrapRequest } from "./bootstrap.ts";
export { createClient } from "./create-client.ts";
export type { ClientOptions, MachineClient, ResolvedField } from "./create-client.ts";
export { CofferError } from "./errors.ts";
export type { CofferErrorCode, CofferErrorOptions } from "./errors.ts";
export { configurationText, isBootstrapped, parseConfiguration } from "./machine-configuration.ts";
export type { ConfiguredFolder, MachineConfiguration } from "./machine-configuration.ts";
export { checkNewPassword, shortestPassword } from "./new-password.ts";
export { formatNotation, notationScheme, parseNotation, parseSecretNotation } from "./notation.ts";
export type { Notation } from "./notation.ts";
export type { OfflineOptions, OfflineStorage } from "./offline-transport.ts";
export { machineFingerprint } from "./own-key.ts";
export { personClient } from "./person-client.ts";
export type { NewSiemWebhook, PersonClient, PersonClientOptions } from "./person-client.ts";
export { memoryKeeper } from "./person-session.ts";
export type { PersonSession, SessionKeeper } from "./person-session.ts";
export type { AuditFilter, AuditHead, AuditPage } from "./audit-pages.ts";
export type { SetOptions, SetResult } from "./change-secret.ts";
export type { FolderSummary } from "./create-folder.ts";
export type { NewToken, TokenRequest } from "./create-token.ts";
export type { Secret } from "./sealed-secret.ts";
export type { SecretsClient, SecretsClientOptions } from "./secrets-client.ts";
export type { NextQuestion, SecretChange, Watch, WatchOptions } from "./watch-secrets.ts";
export type { Fingerprint } from "@coffer/crypto";
export { fingerprintOf } from "./public-key.ts";
export type { ConfirmKey, KeyHolder } from "./public-key.ts";
export type { SecretPart, UnopenedSecret } from "./reseal-secret.ts";
export type { RotatedFolder } from "./rotate-folder.ts";
export type { Adoption } from "./histories/adopt.ts";
export type { RotationHolder, RotationReport } from "./histories/next-key.ts";
export type { AcceptOffer, Offer } from "./histories/offer.ts";
export type { Removal } from "./histories/organization.ts";
export type { Trustworthy } from "./histories/trust-keyring.ts";
export { emptyTrust, memoryTrust } from "./histories/trust-storage.ts";
export type { Trusted, TrustRecord, TrustStorage } from "./histories/trust-storage.ts";
export type { ListedFolder } from "./person-store.ts";
export type { GrantRequest } from "./grant-folder.ts";
export type { ShareRequest } from "./share-folder.ts";
export type { WebSocketConstructor, WebSocketLike } from "./sync/connection.ts";
export type { SyncChange, SyncedRecord } from "./sync/open-changes.ts";
export type { Sync, SyncOptions } from "./sync/sync-client.ts";
export type { RecordChange } from "./vaults/change-record.ts";
export type { ImportOptions, ImportResult, NewRecord } from "./vaults/import-records.ts";
export type { Vault } from "./vaults/open-vault.ts";
export type { RecordFilter, RecordsClient } from "./vaults/records-client.ts";
export type { VaultRecord } from "./vaults/sealed-record.ts";
export type { RotatedVault } from "./vaults/rotate-vault.ts";
export type { VaultMember } from "./vaults/share-vault.ts";
export type { VaultsClient } from "./vaults/vaults-client.ts";
export type { VaultGrantView, VaultMemberView } from "./vaults/views.ts";
export { canonicalUrl, safeUrl } from "./transport.ts";
export type { TransportOptions } from "./transport.ts";
export type { UsableFolder } from "./usable-folder.ts";
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
