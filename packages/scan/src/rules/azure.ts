import type { Rule } from "../rule.ts";
import { contextRule } from "./context-rule.ts";
import { base62, base64, ofCharacters, tokenRule } from "./shape.ts";

/** Keys that Azure marks with a signature near their end. */
const signed = (id: string, description: string, signature: string, reference: string): Rule =>
  tokenRule({
    id,
    kind: "cloud provider service key",
    description,
    reference,
    shape: [base62(40, 44), signature, base62(5, 6), "=="],
    keywords: [signature],
    shown: /^$/,
    minEntropy: 3.8,
  });

/** The start of the storage emulator's key, which is the same for all and documented. */
const emulatorKey = "AccountKey=Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1";

/** A signature that lasts less than two days is over before it is read. */
function isShortLived(address: string): boolean {
  const [, start] = /[?&"']st=(\d{4}-\d{2}-\d{2})/.exec(address) ?? [];
  const [, end] = /[?&"']se=(\d{4}-\d{2}-\d{2})/.exec(address) ?? [];
  return start !== undefined && end !== undefined && Date.parse(end) - Date.parse(start) < 2 * 86_400_000;
}

export const azureRules: readonly Rule[] = [
  tokenRule({
    id: "azure-ad-client-secret",
    kind: "cloud provider client secret",
    description: "Microsoft Entra client secret",
    reference: "https://learn.microsoft.com/entra/identity-platform/howto-create-service-principal-portal",
    revoke: "https://entra.microsoft.com/#view/Microsoft_AAD_RegisteredApps",
    shape: [ofCharacters("A-Za-z0-9_~.", 3), ofCharacters("0-9", 1), "Q~", ofCharacters("A-Za-z0-9_~.-", 31, 34)],
    keywords: ["Q~"],
    shown: /^$/,
    minEntropy: 3.8,
  }),
  tokenRule({
    id: "azure-storage-key",
    kind: "cloud provider storage key",
    description: "Azure Storage account key",
    reference: "https://learn.microsoft.com/azure/storage/common/storage-account-keys-manage",
    revoke: "https://portal.azure.com",
    shape: ["AccountKey=", base64(86), "=="],
    minEntropy: 4.5,
    check: ({ secret }) => (secret.startsWith(emulatorKey) ? null : { confidence: "high" }),
  }),
  tokenRule({
    id: "azure-shared-access-key",
    kind: "cloud provider messaging key",
    description: "Shared access key of Azure Service Bus, Event Hubs or IoT Hub",
    reference: "https://learn.microsoft.com/azure/service-bus-messaging/service-bus-sas",
    revoke: "https://portal.azure.com",
    shape: ["SharedAccessKey=", base64(43), "="],
    minEntropy: 4.2,
  }),
  tokenRule({
    id: "azure-devops-token",
    kind: "code-host access token",
    description: "Azure DevOps personal access token",
    reference:
      "https://learn.microsoft.com/azure/devops/organizations/accounts/use-personal-access-tokens-to-authenticate",
    revoke: "https://dev.azure.com",
    shape: [base62(76), "AZDO", base62(4)],
    keywords: ["AZDO"],
    window: { before: 120, after: 64 },
    shown: /^$/,
    minEntropy: 4.5,
  }),
  contextRule({
    id: "azure-devops-legacy-token",
    kind: "code-host access token",
    description: "Azure DevOps personal access token of the older form",
    reference:
      "https://learn.microsoft.com/azure/devops/organizations/accounts/use-personal-access-tokens-to-authenticate",
    names: ["azure_devops", "azuredevops", "azdo", "vsts", "system_accesstoken"],
    shape: [ofCharacters("a-z2-7", 52)],
    minEntropy: 4,
  }),
  signed(
    "azure-function-key",
    "Azure Functions key",
    "AzFu",
    "https://learn.microsoft.com/azure/azure-functions/function-keys-how-to",
  ),
  signed(
    "azure-search-key",
    "Azure AI Search admin or query key",
    "AzSe",
    "https://learn.microsoft.com/azure/search/search-security-api-keys",
  ),
  tokenRule({
    id: "azure-sas-signature",
    kind: "cloud provider signed URL",
    description: "Signature of an Azure shared access URL",
    reference: "https://learn.microsoft.com/azure/storage/common/storage-sas-overview",
    shape: ["&sig=", ofCharacters("A-Za-z0-9%", 43, 70)],
    minEntropy: 3.8,
    confidence: "medium",
    check: ({ before, after }) => {
      const address = `${before(400)}${after(200)}`;
      if (!/[?&]s[vep]=/.test(address)) return null;
      return { confidence: isShortLived(address) ? "low" : "medium" };
    },
    context: "https://a.blob.core.windows.net/c/b?sv=2022-11-02&se=2030-01-01&sr=b&sp=r",
  }),
];
