import type { Rule } from "../rule.ts";
import { base62, base64Url, lowerBase36, lowerHex, tokenRule } from "./shape.ts";

const reference = "https://docs.gitlab.com/security/tokens/";
const revoke = "https://gitlab.com/-/user_settings/personal_access_tokens";

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
  tokenRule({
    id: "gitlab-routable-token",
    kind: "code-host access token",
    description: "GitLab access token that names its cell",
    reference,
    revoke,
    shape: ["glpat-", base64Url(27, 300), ".", lowerHex(2), ".", lowerBase36(7, 9)],
    minEntropy: 3,
  }),
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
