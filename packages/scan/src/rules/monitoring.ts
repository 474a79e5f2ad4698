import { zlib } from "../checks/builtin.ts";
import type { Rule } from "../rule.ts";
import { contextRule } from "./context-rule.ts";
import { base62, base64Url, lowerHex, ofCharacters, tokenRule, upperBase36 } from "./shape.ts";

/** CRC32 of prefix and body, its lowest byte first. */
function grafanaChecksum(text: string): string {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(zlib().crc32(text));
  return bytes.toString("hex");
}

export const monitoringRules: readonly Rule[] = [
  tokenRule({
    id: "grafana-service-account-token",
    kind: "monitoring access token",
    description: "Grafana service account token",
    reference: "https://grafana.com/docs/grafana/latest/administration/service-accounts/",
    shape: ["glsa_", base62(32), "_", lowerHex(8)],
    hasChecksum: true,
    minEntropy: 3.6,
    check: ({ secret }) =>
      grafanaChecksum(secret.slice(0, -9)) === secret.slice(-8)
        ? { confidence: "high", checksum: "valid" }
        : { confidence: "low", checksum: "invalid" },
    seal: (text) => `${text.slice(0, -8)}${grafanaChecksum(text.slice(0, -9))}`,
  }),
  tokenRule({
    id: "grafana-cloud-token",
    kind: "monitoring access token",
    description: "Grafana Cloud access policy token",
    reference:
      "https://grafana.com/docs/grafana-cloud/account-management/authentication-and-permissions/access-policies/",
    shape: ["glc_eyJ", ofCharacters("A-Za-z0-9+/=", 60, 300)],
    minEntropy: 4,
  }),
  tokenRule({
    id: "sentry-organization-token",
    kind: "monitoring access token",
    description: "Sentry organization token",
    reference: "https://docs.sentry.io/account/auth-tokens/",
    shape: ["sntrys_eyJ", ofCharacters("A-Za-z0-9+/=", 80, 300), "_", ofCharacters("A-Za-z0-9+/", 43)],
    minEntropy: 4,
  }),
  tokenRule({
    id: "sentry-user-token",
    kind: "monitoring access token",
    description: "Sentry user token",
    reference: "https://docs.sentry.io/account/auth-tokens/",
    shape: ["sntryu_", lowerHex(64)],
  }),
  tokenRule({
    id: "new-relic-user-key",
    kind: "monitoring API key",
    description: "New Relic user key",
    reference: "https://docs.newrelic.com/docs/apis/intro-apis/new-relic-api-keys/",
    shape: ["NRAK-", upperBase36(27)],
    minEntropy: 3.4,
  }),
  tokenRule({
    id: "new-relic-insert-key",
    kind: "monitoring API key",
    description: "New Relic insert key",
    reference: "https://docs.newrelic.com/docs/apis/intro-apis/new-relic-api-keys/",
    shape: ["NRII-", base64Url(32)],
    minEntropy: 3.4,
  }),
  contextRule({
    id: "datadog-api-key",
    kind: "monitoring API key",
    description: "Datadog API key",
    reference: "https://docs.datadoghq.com/account_management/api-app-keys/",
    revoke: "https://app.datadoghq.com/organization-settings/api-keys",
    names: ["datadog", "dd_api", "dd-api", "ddapi"],
    shape: [lowerHex(32)],
    minEntropy: 3,
  }),
  contextRule({
    id: "datadog-application-key",
    kind: "monitoring application key",
    description: "Datadog application key",
    reference: "https://docs.datadoghq.com/account_management/api-app-keys/",
    names: ["datadog", "dd_app", "dd-app", "ddapp"],
    named: /app|key/i,
    shape: [lowerHex(40)],
    minEntropy: 3.1,
  }),
  tokenRule({
    id: "dynatrace-token",
    kind: "monitoring access token",
    description: "Dynatrace access token",
    reference: "https://docs.dynatrace.com/docs/manage/identity-access-management/access-tokens-and-oauth-clients",
    shape: ["dt0c01.", upperBase36(24), ".", upperBase36(64)],
    minEntropy: 4,
  }),
  tokenRule({
    id: "dynatrace-platform-token",
    kind: "monitoring access token",
    description: "Dynatrace platform token",
    reference: "https://docs.dynatrace.com/docs/manage/identity-access-management/access-tokens-and-oauth-clients",
    shape: ["dt0s16.", upperBase36(8), ".", upperBase36(64)],
    minEntropy: 4,
  }),
];
