import { auditPartitionMutants } from "./catalogue/audit-partitions.ts";
import { backupMutants } from "./catalogue/backups.ts";
import { billingMutants } from "./catalogue/billing.ts";
import { changeMutants } from "./catalogue/changes.ts";
import { chartMutants } from "./catalogue/chart.ts";
import { commandMutants } from "./catalogue/command.ts";
import { cryptoMutants } from "./catalogue/crypto.ts";
import { deviceCredentialMutants } from "./catalogue/device-credentials.ts";
import { deviceMutants } from "./catalogue/devices.ts";
import { historyMutants } from "./catalogue/histories.ts";
import { historyClientMutants } from "./catalogue/history-clients.ts";
import { historyMachineMutants } from "./catalogue/history-machines.ts";
import { historyPropertyMutants } from "./catalogue/history-property.ts";
import { historyRemovalMutants } from "./catalogue/history-removals.ts";
import { httpMutants } from "./catalogue/http.ts";
import { imageMutants } from "./catalogue/images.ts";
import { localMutants } from "./catalogue/local.ts";
import { machineMutants } from "./catalogue/machines.ts";
import { organizationMutants } from "./catalogue/organizations.ts";
import { organizationListMutants } from "./catalogue/organization-lists.ts";
import { peopleMutants } from "./catalogue/people.ts";
import { postgresMutants } from "./catalogue/postgres.ts";
import { quotaMutants } from "./catalogue/quota.ts";
import { ratelimitMutants } from "./catalogue/ratelimit.ts";
import { recordMutants } from "./catalogue/records.ts";
import { releaseMutants } from "./catalogue/release.ts";
import { scanMutants } from "./catalogue/scan.ts";
import { consoleMutants } from "./catalogue/console.ts";
import { scannerMutants } from "./catalogue/scanner.ts";
import { sdkMutants } from "./catalogue/sdk.ts";
import { secretExpiryMutants } from "./catalogue/secret-expiry.ts";
import { secretMutants } from "./catalogue/secrets.ts";
import { siemDeliveryMutants } from "./catalogue/siem-delivery.ts";
import { siemEndpointMutants } from "./catalogue/siem-endpoints.ts";
import { siemForwarderMutants } from "./catalogue/siem-forwarder.ts";
import { signedChangeMutants } from "./catalogue/signed-changes.ts";
import { syncMutants } from "./catalogue/sync.ts";
import { telemetryMutants } from "./catalogue/telemetry.ts";
import { tokenMutants } from "./catalogue/tokens.ts";
import { trustMutants } from "./catalogue/trust.ts";
import { travelMutants } from "./catalogue/travel.ts";
import { vaultClientMutants } from "./catalogue/vault-clients.ts";
import { vaultPeopleMutants } from "./catalogue/vault-people.ts";
import { vaultRecordMutants } from "./catalogue/vault-records.ts";
import { vaultMutants } from "./catalogue/vaults.ts";
import type { Mutant } from "./mutant.ts";

/** Every mutant. */
export const catalogue: readonly Mutant[] = [
  ...tokenMutants,
  ...quotaMutants,
  ...ratelimitMutants,
  ...historyMutants,
  ...historyClientMutants,
  ...historyRemovalMutants,
  ...historyMachineMutants,
  ...historyPropertyMutants,
  ...httpMutants,
  ...postgresMutants,
  ...cryptoMutants,
  ...telemetryMutants,
  ...siemForwarderMutants,
  ...auditPartitionMutants,
  ...siemEndpointMutants,
  ...billingMutants,
  ...siemDeliveryMutants,
  ...machineMutants,
  ...secretExpiryMutants,
  ...secretMutants,
  ...peopleMutants,
  ...deviceCredentialMutants,
  ...organizationMutants,
  ...organizationListMutants,
  ...signedChangeMutants,
  ...recordMutants,
  ...vaultMutants,
  ...vaultRecordMutants,
  ...vaultClientMutants,
  ...vaultPeopleMutants,
  ...travelMutants,
  ...changeMutants,
  ...chartMutants,
  ...backupMutants,
  ...syncMutants,
  ...commandMutants,
  ...trustMutants,
  ...sdkMutants,
  ...releaseMutants,
  ...scanMutants,
  ...consoleMutants,
  ...scannerMutants,
  ...deviceMutants,
  ...imageMutants,
  ...localMutants,
];
