import { crypto } from "../checks/builtin.ts";
import { hasCrc32Base62, crc32Base62 } from "../checks/base62.ts";
import { toBase32 } from "../checks/base32.ts";
import type { Candidate, Rule, Verdict } from "../rule.ts";
import { base62, base64Url, digits, tokenRule } from "./shape.ts";

const reference =
  "https://docs.github.com/en/authentication/keeping-your-account-and-data-secure/about-authentication-to-github";
const revoke = "https://github.com/settings/tokens";

/** A wrong checksum means that the text is no token, or one that was changed by hand. */
const checked = ({ secret }: Candidate): Verdict =>
  hasCrc32Base62(secret.slice(4))
    ? { confidence: "high", checksum: "valid" }
    : { confidence: "low", checksum: "invalid" };
const sealed = (text: string): string => `${text.slice(0, -6)}${crc32Base62(text.slice(4, -6))}`;
const common = { reference, revoke, check: checked, seal: sealed, hasChecksum: true, minEntropy: 3.6 };

/** The first characters of a fine-grained token's checksum, which GitHub does not document. */
function fineGrainedChecksum(token: string): string {
  return toBase32(crypto().createHash("sha256").update(token.slice(0, 77)).digest()).slice(0, 8);
}

export const githubRules: readonly Rule[] = [
  tokenRule({
    id: "github-personal-token",
    kind: "code-host personal token",
    description: "GitHub personal access token (classic)",
    shape: ["ghp_", base62(36)],
    ...common,
  }),
  tokenRule({
    id: "github-fine-grained-token",
    kind: "code-host fine-grained token",
    description: "GitHub fine-grained personal access token",
    reference,
    revoke: "https://github.com/settings/personal-access-tokens",
    shape: ["github_pat_", base62(22), "_", base62(59)],
    minEntropy: 4.1,
    hasChecksum: true,
    check: ({ secret }) =>
      secret.slice(77, 85) === fineGrainedChecksum(secret)
        ? { confidence: "high", checksum: "valid" }
        : { confidence: "medium", checksum: "invalid" },
    seal: (text) => `${text.slice(0, 77)}${fineGrainedChecksum(text)}${text.slice(85)}`,
  }),
  tokenRule({
    id: "github-oauth-token",
    kind: "code-host oauth token",
    description: "GitHub OAuth access token",
    shape: ["gho_", base62(36)],
    ...common,
    revoke: "https://github.com/settings/applications",
  }),
  tokenRule({
    id: "github-user-token",
    kind: "code-host app user token",
    description: "GitHub App user access token",
    shape: ["ghu_", base62(36)],
    ...common,
    revoke: "https://github.com/settings/apps/authorizations",
  }),
  tokenRule({
    id: "github-refresh-token",
    kind: "code-host app refresh token",
    description: "GitHub App refresh token",
    shape: ["ghr_", base62(76)],
    ...common,
    revoke: "https://github.com/settings/apps/authorizations",
  }),
  tokenRule({
    id: "github-installation-token",
    kind: "code-host installation token",
    description: "GitHub App installation access token",
    shape: ["ghs_", base62(36)],
    ...common,
  }),
  tokenRule({
    id: "github-installation-jwt",
    kind: "code-host installation token",
    description: "GitHub App installation access token that holds a JWT",
    reference,
    shape: ["ghs_", digits(1, 12), "_eyJ", base64Url(20, 400), ".eyJ", base64Url(20, 1200), ".", base64Url(43, 700)],
    keywords: ["ghs_"],
    window: { before: 64, after: 3000 },
  }),
];
