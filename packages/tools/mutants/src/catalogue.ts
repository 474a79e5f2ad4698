import { auditPartitionMutants } from "./catalogue/siem/audit-partitions.ts";
import { backupMutants } from "./catalogue/deployment/backups.ts";
import { billingMutants } from "./catalogue/siem/billing.ts";
import { changeMutants } from "./catalogue/vaults/changes.ts";
import { chartMutants } from "./catalogue/deployment/chart.ts";
import { commandMutants } from "./catalogue/clients/command.ts";
import { cryptoMutants } from "./catalogue/clients/crypto.ts";
import { deviceCredentialMutants } from "./catalogue/people/device-credentials.ts";
import { deviceMutants } from "./catalogue/people/devices.ts";
import { historyMutants } from "./catalogue/trust/histories.ts";
import { historyClientMutants } from "./catalogue/trust/history-clients.ts";
import { historyMachineMutants } from "./catalogue/trust/history-machines.ts";
import { historyPropertyMutants } from "./catalogue/trust/history-property.ts";
import { historyRemovalMutants } from "./catalogue/trust/history-removals.ts";
import { removedNameMutants } from "./catalogue/trust/removed-names.ts";
import { httpMutants } from "./catalogue/deployment/http.ts";
import { imageMutants } from "./catalogue/deployment/images.ts";
import { localMutants } from "./catalogue/deployment/local.ts";
import { machineMutants } from "./catalogue/machines/machines.ts";
import { organizationMutants } from "./catalogue/people/organizations.ts";
import { organizationListMutants } from "./catalogue/people/organization-lists.ts";
import { peopleMutants } from "./catalogue/people/people.ts";
import { postgresMutants } from "./catalogue/deployment/postgres.ts";
import { quotaMutants } from "./catalogue/vaults/quota.ts";
import { ratelimitMutants } from "./catalogue/deployment/ratelimit.ts";
import { recordMutants } from "./catalogue/vaults/records.ts";
import { releaseMutants } from "./catalogue/deployment/release.ts";
import { scanMutants } from "./catalogue/clients/scan.ts";
import { consoleMutants } from "./catalogue/clients/console.ts";
import { scannerMutants } from "./catalogue/clients/scanner.ts";
import { sdkMutants } from "./catalogue/clients/sdk.ts";
import { secretExpiryMutants } from "./catalogue/machines/secret-expiry.ts";
import { secretMutants } from "./catalogue/machines/secrets.ts";
import { siemDeliveryMutants } from "./catalogue/siem/siem-delivery.ts";
import { siemEndpointMutants } from "./catalogue/siem/siem-endpoints.ts";
import { siemForwarderMutants } from "./catalogue/siem/siem-forwarder.ts";
import { signedChangeMutants } from "./catalogue/trust/signed-changes.ts";
import { syncMutants } from "./catalogue/vaults/sync.ts";
import { telemetryMutants } from "./catalogue/deployment/telemetry.ts";
import { tokenMutants } from "./catalogue/machines/tokens.ts";
import { trustMutants } from "./catalogue/trust/trust.ts";
import { travelMutants } from "./catalogue/vaults/travel.ts";
import { vaultClientMutants } from "./catalogue/trust/vault-clients.ts";
import { vaultPeopleMutants } from "./catalogue/vaults/vault-people.ts";
import { vaultRecordMutants } from "./catalogue/vaults/vault-records.ts";
import { vaultMutants } from "./catalogue/vaults/vaults.ts";
import type { Mutant } from "./mutant.ts";

/** Every mutant. */
export const catalogue: readonly Mutant[] = [
  ...tokenMutants,
  ...quotaMutants,
  ...ratelimitMutants,
  ...historyMutants,
  ...historyClientMutants,
  ...historyRemovalMutants,
  ...removedNameMutants,
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
