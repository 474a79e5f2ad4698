import { crc32Base62, hasCrc32Base62 } from "../checks/base62.ts";
import type { Rule } from "../rule.ts";
import { base62, base64Url, lowerBase36, lowerHex, tokenRule } from "./shape.ts";

export const registryRules: readonly Rule[] = [
  tokenRule({
    id: "npm-token",
    kind: "package registry token",
    description: "npm access token",
    reference: "https://docs.npmjs.com/about-access-tokens",
    revoke: "https://www.npmjs.com/settings/~/tokens",
    shape: ["npm_", base62(36)],
    hasChecksum: true,
    minEntropy: 3.6,
    check: ({ secret }) =>
      hasCrc32Base62(secret.slice(4))
        ? { confidence: "high", checksum: "valid" }
        : { confidence: "low", checksum: "invalid" },
    seal: (text) => `${text.slice(0, -6)}${crc32Base62(text.slice(4, -6))}`,
  }),
  tokenRule({
    id: "pypi-token",
    kind: "package registry token",
    description: "PyPI API token",
    reference: "https://pypi.org/help/#apitoken",
    revoke: "https://pypi.org/manage/account/token/",
    shape: ["pypi-AgEIcHlwaS5vcmc", base64Url(50, 400)],
    minEntropy: 3.5,
  }),
  tokenRule({
    id: "test-pypi-token",
    kind: "package registry token",
    description: "TestPyPI API token",
    reference: "https://test.pypi.org/help/#apitoken",
    shape: ["pypi-AgENdGVzdC5weXBpLm9yZw", base64Url(50, 400)],
    minEntropy: 3.5,
  }),
  tokenRule({
    id: "rubygems-key",
    kind: "package registry token",
    description: "RubyGems API key",
    reference: "https://guides.rubygems.org/api-key-scopes/",
    revoke: "https://rubygems.org/profile/api_keys",
    shape: ["rubygems_", lowerHex(48)],
  }),
  tokenRule({
    id: "crates-io-token",
    kind: "package registry token",
    description: "crates.io API token",
    reference: "https://doc.rust-lang.org/cargo/reference/publishing.html",
    revoke: "https://crates.io/settings/tokens",
    shape: ["cio", base62(32)],
    minEntropy: 3.6,
  }),
  tokenRule({
    id: "docker-hub-token",
    kind: "container registry token",
    description: "Docker Hub personal access token",
    reference: "https://docs.docker.com/security/access-tokens/",
    revoke: "https://app.docker.com/settings/personal-access-tokens",
    shape: ["dckr_pat_", base64Url(27)],
    minEntropy: 3.2,
  }),
  tokenRule({
    id: "docker-hub-organization-token",
    kind: "container registry token",
    description: "Docker Hub organization access token",
    reference: "https://docs.docker.com/enterprise/security/access-tokens/",
    shape: ["dckr_oat_", base64Url(27, 40)],
    minEntropy: 3.2,
  }),
  tokenRule({
    id: "artifactory-api-key",
    kind: "artifact repository key",
    description: "JFrog Artifactory API key",
    reference: "https://jfrog.com/help/r/jfrog-platform-administration-documentation/api-key",
    shape: ["AKCp", base62(69)],
    minEntropy: 4,
  }),
  tokenRule({
    id: "artifactory-reference-token",
    kind: "artifact repository key",
    description: "JFrog reference token",
    reference: "https://jfrog.com/help/r/jfrog-platform-administration-documentation/reference-token",
    shape: ["cmVmdGtuOj", base62(54)],
    minEntropy: 4,
  }),
  tokenRule({
    id: "nuget-key",
    kind: "package registry token",
    description: "NuGet API key",
    reference: "https://learn.microsoft.com/nuget/nuget-org/scoped-api-keys",
    revoke: "https://www.nuget.org/account/apikeys",
    shape: ["oy2", lowerBase36(43)],
    minEntropy: 3.8,
  }),
  tokenRule({
    id: "clojars-token",
    kind: "package registry token",
    description: "Clojars deploy token",
    reference: "https://github.com/clojars/clojars-web/wiki/Deploy-Tokens",
    shape: ["CLOJARS_", lowerHex(60)],
  }),
];
