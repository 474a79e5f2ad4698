import type { Rule } from "../rule.ts";
import { base62, base64Url, leftEdge, lowerBase36, lowerHex, ofCharacters, tokenRule } from "./shape.ts";

export const infrastructureRules: readonly Rule[] = [
  ...(
    [
      ["cft1_", "one-time-token", "one-time access token", "Coffer one-time token"],
      ["cfr1_", "recovery-key", "vault recovery key", "Coffer recovery key"],
      ["cfi1_", "invitation", "organization invitation", "Coffer invitation"],
    ] as const
  ).map(([prefix, id, kind, description]) =>
    tokenRule({
      id: `coffer-${id}`,
      kind,
      description,
      reference: "https://www.rfc-editor.org/rfc/rfc4648#section-5",
      revoke: "coffer token rm, or a new login",
      shape: [prefix, base64Url(43)],
      minEntropy: 3.8,
    }),
  ),
  ...(["hvs.", "hvb."] as const).map((prefix) =>
    tokenRule({
      id: `vault-${prefix.slice(0, 3)}-token`,
      kind: "secrets manager token",
      description: prefix === "hvs." ? "HashiCorp Vault service token" : "HashiCorp Vault batch token",
      reference: "https://developer.hashicorp.com/vault/docs/concepts/tokens",
      revoke: "vault token revoke",
      shape: [prefix, base64Url(prefix === "hvs." ? 24 : 90, 300)],
      minEntropy: 3.4,
    }),
  ),
  tokenRule({
    id: "terraform-cloud-token",
    kind: "infrastructure access token",
    description: "HCP Terraform token",
    reference: "https://developer.hashicorp.com/terraform/cloud-docs/users-teams-organizations/api-tokens",
    revoke: "https://app.terraform.io/app/settings/tokens",
    shape: [base62(14), ".atlasv1.", base64Url(60, 70)],
    shown: /^$/,
    minEntropy: 4,
  }),
  ...(
    [
      ["dp.pt.", "personal token"],
      ["dp.ct.", "CLI token"],
      ["dp.sa.", "service account token"],
      ["dp.scim.", "SCIM token"],
      ["dp.audit.", "audit token"],
    ] as const
  ).map(([prefix, name]) =>
    tokenRule({
      id: `doppler-${name.toLowerCase().replaceAll(" ", "-")}`,
      kind: "secrets manager token",
      description: `Doppler ${name}`,
      reference: "https://docs.doppler.com/docs/service-tokens",
      shape: [prefix, base62(40, 44)],
      minEntropy: 3.8,
    }),
  ),
  {
    ...tokenRule({
      id: "doppler-service-token",
      kind: "secrets manager token",
      description: "Doppler service token",
      reference: "https://docs.doppler.com/docs/service-tokens",
      shape: ["dp.st.", lowerBase36(2, 20), ".", base62(40, 44)],
      minEntropy: 3.8,
    }),
    // Older tokens do not name their configuration.
    pattern: new RegExp(
      `${leftEdge}(?<secret>dp\\.st\\.(?:[a-z0-9_-]{2,35}\\.)?[A-Za-z0-9]{40,44})(?![A-Za-z0-9])`,
      "gd",
    ),
  },
  tokenRule({
    id: "1password-service-account-token",
    kind: "secrets manager token",
    description: "1Password service account token",
    reference: "https://developer.1password.com/docs/service-accounts/",
    shape: ["ops_eyJ", ofCharacters("A-Za-z0-9+/_=-", 250, 1200)],
    window: { before: 64, after: 1400 },
    minEntropy: 4.3,
  }),
  tokenRule({
    id: "1password-secret-key",
    kind: "password manager secret key",
    description: "1Password secret key",
    reference: "https://support.1password.com/secret-key/",
    shape: ["A3-", upper(6), "-", upper(6), "-", upper(5), "-", upper(5), "-", upper(5), "-", upper(5)],
    minEntropy: 3.2,
  }),
  tokenRule({
    id: "pulumi-access-token",
    kind: "infrastructure access token",
    description: "Pulumi access token",
    reference: "https://www.pulumi.com/docs/pulumi-cloud/access-management/access-tokens/",
    revoke: "https://app.pulumi.com/account/tokens",
    shape: ["pul-", lowerHex(40)],
  }),
  tokenRule({
    id: "databricks-token",
    kind: "data platform access token",
    description: "Databricks personal access token",
    reference: "https://docs.databricks.com/dev-tools/auth/pat.html",
    shape: ["dapi", lowerHex(32)],
  }),
  tokenRule({
    id: "tailscale-key",
    kind: "network access key",
    description: "Tailscale key",
    reference: "https://tailscale.com/kb/1101/api",
    revoke: "https://login.tailscale.com/admin/settings/keys",
    shape: ["tskey-", ofCharacters("a-z", 3, 8), "-", base62(11, 24), "-", base62(21, 48)],
    minEntropy: 3.4,
  }),
  tokenRule({
    id: "infracost-key",
    kind: "infrastructure API key",
    description: "Infracost API key",
    reference: "https://www.infracost.io/docs/",
    shape: ["ico-", base62(32)],
    minEntropy: 3.6,
  }),
  tokenRule({
    id: "prefect-key",
    kind: "workflow platform API key",
    description: "Prefect Cloud API key",
    reference: "https://docs.prefect.io/v3/how-to-guides/cloud/manage-users/api-keys",
    shape: ["pn", ofCharacters("ub", 1), "_", base62(36)],
    keywords: ["pnu_", "pnb_"],
    minEntropy: 3.6,
  }),
  tokenRule({
    id: "octopus-deploy-key",
    kind: "deployment API key",
    description: "Octopus Deploy API key",
    reference: "https://octopus.com/docs/octopus-rest-api/how-to-create-an-api-key",
    shape: ["API-", ofCharacters("A-Z0-9", 26)],
    minEntropy: 3.4,
    confidence: "medium",
  }),
  tokenRule({
    id: "sonarqube-token",
    kind: "code analysis token",
    description: "SonarQube token",
    reference: "https://docs.sonarsource.com/sonarqube-server/latest/user-guide/managing-tokens/",
    shape: ["sq", ofCharacters("pua", 1), "_", lowerHex(40)],
    keywords: ["sqp_", "squ_", "sqa_"],
  }),
];

function upper(count: number): { characters: string; least: number; most: number } {
  return { characters: "A-Z0-9", least: count, most: count };
}
