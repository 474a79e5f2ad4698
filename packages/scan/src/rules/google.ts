import type { Rule } from "../rule.ts";
import { base32, base64Url, digits, tokenRule } from "./shape.ts";

/** The start of a key that is no placeholder. */
const privateKeyMember =
  /"private_key\\?"\s{0,4}:\s{0,4}\\?"-----BEGIN (?:[A-Z]{2,9} )?PRIVATE KEY-----(?:\\{1,4}n|\s){0,2}[A-Za-z0-9+/]{60}/;

export const googleRules: readonly Rule[] = [
  tokenRule({
    id: "google-api-key",
    kind: "cloud provider API key",
    description: "Google API key",
    reference: "https://cloud.google.com/docs/authentication/api-keys",
    revoke: "https://console.cloud.google.com/apis/credentials",
    shape: ["AIza", base64Url(35)],
    minEntropy: 3.8,
  }),
  tokenRule({
    id: "google-oauth-client-secret",
    kind: "cloud provider client secret",
    description: "Google OAuth client secret",
    reference: "https://developers.google.com/identity/protocols/oauth2",
    revoke: "https://console.cloud.google.com/apis/credentials",
    shape: ["GOCSPX-", base64Url(28)],
    minEntropy: 3.4,
  }),
  tokenRule({
    id: "google-oauth-access-token",
    kind: "cloud provider session token",
    description: "Google OAuth access token",
    reference: "https://cloud.google.com/docs/authentication/token-types",
    shape: ["ya29.", base64Url(80, 400)],
    minEntropy: 4.3,
  }),
  tokenRule({
    id: "google-oauth-refresh-token",
    kind: "cloud provider refresh token",
    description: "Google OAuth refresh token",
    reference: "https://developers.google.com/identity/protocols/oauth2",
    shape: ["1//0", digits(1), base64Url(80, 140)],
    minEntropy: 4.3,
  }),
  tokenRule({
    id: "google-hmac-key",
    kind: "cloud provider access key",
    description: "Google Cloud Storage HMAC key id of a service account",
    reference: "https://cloud.google.com/storage/docs/authentication/hmackeys",
    shape: ["GOOG1E", base32(55)],
    minEntropy: 3.8,
    confidence: "medium",
  }),
  {
    id: "google-service-account-key",
    kind: "cloud provider service account key",
    description: "Key id of a Google service account, in the file that also holds its private key",
    reference: "https://cloud.google.com/iam/docs/keys-create-delete",
    revoke: "https://console.cloud.google.com/iam-admin/serviceaccounts",
    keywords: ["private_key_id"],
    window: { before: 400, after: 600 },
    pattern: /"private_key_id\\?"\s{0,4}:\s{0,4}\\?"(?<secret>[0-9a-f]{40})\\?"/dg,
    confidence: "medium",
    shown: /^$/,
    check: ({ before, after }) => {
      const around = `${before(400)}${after(600)}`;
      return /"type\\?"\s{0,4}:\s{0,4}\\?"service_account/.test(around) && privateKeyMember.test(around)
        ? { confidence: "medium" }
        : null;
    },
    examples: {
      positive: (random) => [
        `{"type": "service_account", "project_id": "p", "private_key_id": "${random.text("0123456789abcdef", 40)}", "private_key": "-----BEGIN PRIVATE KEY-----\\nMIIEvQ${random.text("ABCDEFabcdef0123456789+/", 58)}`,
      ],
      negative: (random) => [
        `{"type": "service_account", "private_key_id": "${random.text("0123456789abcdef", 40)}", "private_key": "-----BEGIN PRIVATE KEY-----\\n..."}`,
        `{"type": "user", "private_key_id": "${random.text("0123456789abcdef", 40)}"}`,
        `{"type": "service_account", "private_key_id": "${"0".repeat(40)}"}`,
      ],
    },
  },
  tokenRule({
    id: "firebase-server-key",
    kind: "mobile push server key",
    description: "Firebase Cloud Messaging server key",
    reference: "https://firebase.google.com/docs/cloud-messaging/auth-server",
    shape: ["AAAA", base64Url(7), ":APA91b", base64Url(134)],
    keywords: [":APA91b"],
    minEntropy: 4.3,
  }),
];
