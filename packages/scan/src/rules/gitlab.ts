import { crc32Base36 } from "../checks/base62.ts";
import type { Rule } from "../rule.ts";
import { base62, base64Url, lowerBase36, lowerHex, tokenRule } from "./shape.ts";

const reference = "https://docs.gitlab.com/security/tokens/";
const revoke = "https://gitlab.com/-/user_settings/personal_access_tokens";

/** A token that names its cell. GitLab's generator ends it in a checksum of all before it. */
function routable(id: string, kind: string, name: string, prefix: string, revoked?: string): Rule {
  return tokenRule({
    id,
    kind,
    description: `GitLab ${name} that names its cell`,
    reference,
    ...(revoked === undefined ? {} : { revoke: revoked }),
    shape: [prefix, base64Url(27, 300), ".", lowerBase36(2), ".", lowerBase36(9)],
    window: { before: 64, after: 400 },
    hasChecksum: true,
    minEntropy: 3,
    check: ({ secret }) =>
      crc32Base36(secret.slice(0, -7)) === secret.slice(-7)
        ? { confidence: "high", checksum: "valid" }
        : { confidence: "low", checksum: "invalid" },
    seal: (text) => `${text.slice(0, -7)}${crc32Base36(text.slice(0, -7))}`,
  });
}

export const gitlabRules: readonly Rule[] = [
  tokenRule({
    id: "gitlab-personal-token",
    kind: "code-host access token",
    description: "GitLab personal, group or project access token",
    reference,
    revoke,
    shape: ["glpat-", base64Url(20)],
    minEntropy: 3,
  }),
  routable("gitlab-routable-token", "code-host access token", "access token", "glpat-", revoke),
  routable("gitlab-routable-runner-token", "code-host runner token", "runner authentication token", "glrt-"),
  tokenRule({
    id: "gitlab-deploy-token",
    kind: "code-host deploy token",
    description: "GitLab deploy token",
    reference,
    shape: ["gldt-", base64Url(20)],
    minEntropy: 3,
  }),
  tokenRule({
    id: "gitlab-runner-token",
    kind: "code-host runner token",
    description: "GitLab runner authentication token",
    reference,
    shape: ["glrt-", base64Url(20)],
    minEntropy: 3,
  }),
  tokenRule({
    id: "gitlab-trigger-token",
    kind: "code-host pipeline trigger token",
    description: "GitLab pipeline trigger token",
    reference,
    shape: ["glptt-", lowerHex(40)],
  }),
  tokenRule({
    id: "gitlab-job-token",
    kind: "code-host job token",
    description: "GitLab CI/CD job token",
    reference,
    shape: ["glcbt-", base62(1, 5), "_", base64Url(20)],
    minEntropy: 3,
  }),
  tokenRule({
    id: "gitlab-feed-token",
    kind: "code-host feed token",
    description: "GitLab feed token",
    reference,
    shape: ["glft-", base64Url(20)],
    minEntropy: 3,
  }),
];
