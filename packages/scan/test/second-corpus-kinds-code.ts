import { crcBase36, crcBase62, shaBase32 } from "./second-corpus-checksums.ts";
import { token } from "./second-corpus-kind.ts";
import type { Kind } from "./second-corpus-kind.ts";
import { base32, base36, base58, base62, base64url, digits, hex, lower } from "./second-corpus-random.ts";
import type { Draw } from "./second-corpus-random.ts";

const wrongCrc = (body: string): string => crcBase62(`${body}0`);

function github(prefix: string, name: string, term?: string, length = 30): Kind {
  return token({
    name,
    variable: "GITHUB_TOKEN",
    prefix,
    alphabet: base62,
    length,
    tail: crcBase62,
    wrongTail: wrongCrc,
    ...(term === undefined ? {} : { term }),
    texts: (draw, value) => [
      `machine github.com\n  login octo${draw.text(lower, 4)}\n  password ${value}\n`,
      `git clone https://x-access-token:${value}@github.com/acme/api.git\n`,
      `[url "https://${value}@github.com/"]\n\tinsteadOf = git@github.com:\n`,
      `curl -H "Authorization: token ${value}" https://api.github.com/user\n`,
    ],
  });
}

/**
 * `github_pat_`, 22 characters, `_`, 59 characters; the last eight of 85 come from the others
 * before them.
 */
function fineGrained(draw: Draw): string {
  const id = `${draw.text(digits, 2)}${draw.text(base32, 9)}0${draw.text(base62, 10)}`;
  const start = `github_pat_${id}_${draw.text(base62, 43)}`;
  const checksum = shaBase32(start);
  return `${start}${checksum}${draw.text(base62, 93 - start.length - checksum.length)}`;
}

/** As GitLab's generator writes it: payload, version, length and CRC-32 of all. */
function routable(draw: Draw, prefix: string): string {
  const payload = `c:1\no:${draw.text(base36, 2)}\nu:${draw.text(base36, 3)}`;
  const bytes = Buffer.concat([draw.bytes(16), Buffer.from(payload), Buffer.from([payload.length])]);
  const encoded = bytes.toString("base64url");
  const start = `${prefix}${encoded}.01.${encoded.length.toString(36).padStart(2, "0")}`;
  return `${start}${crcBase36(start)}`;
}

/** A macaroon of version 2 as PyPI makes it. */
function macaroon(draw: Draw, location: string): string {
  const field = (kind: number, bytes: Buffer): Buffer => Buffer.concat([Buffer.from([kind, bytes.length]), bytes]);
  const parts = [
    Buffer.from([2]),
    field(1, Buffer.from(location)),
    field(2, Buffer.from(draw.uuid())),
    Buffer.from([0]),
    field(2, Buffer.from(`[3,"${draw.uuid()}"]`)),
    Buffer.from([0, 0]),
    field(6, draw.bytes(32)),
  ];
  return `pypi-${Buffer.concat(parts).toString("base64url")}`;
}

function installation(draw: Draw): string {
  const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString("base64url");
  const head = part({ alg: "RS256", typ: "JWT", kid: draw.text(hex, 16) });
  const claims = part({ iss: "github", iat: 1_780_000_000 + draw.below(9_000_000), sub: draw.text(digits, 8) });
  return `ghs_${draw.text(digits, 7)}_${head}.${claims}.${draw.bytes(256).toString("base64url")}`;
}

const npmTexts = (draw: Draw, value: string): string[] => [
  `registry=https://registry.npmjs.org/\n//registry.npmjs.org/:_authToken=${value}\n`,
  `npmRegistries:\n  "https://registry.npmjs.org":\n    npmAlwaysAuth: true\n    npmAuthToken: "${value}"\n`,
  `RUN echo "//registry.npmjs.org/:_authToken=${value}" > /home/${draw.text(lower, 5)}/.npmrc\n`,
];

const pypirc = (draw: Draw, value: string): string[] => [
  `[distutils]\nindex-servers =\n    pypi\n\n[pypi]\nusername = __token__\npassword = ${value}\n`,
  `twine upload -u __token__ -p ${value} dist/*${draw.text(digits, 2)}.whl\n`,
];

export const codeKinds: Kind[] = [
  github("ghp_", "GitHub personal token", "code-host personal token"),
  {
    name: "GitHub fine-grained token",
    term: "code-host fine-grained token",
    variable: "GH_TOKEN",
    make: fineGrained,
    near: (draw) => [
      `github_pat_${draw.text(base62, 22)}_${draw.text(base62, 30)}`,
      `github_pat_${draw.text(base62, 12)}_${draw.text(base62, 59)}`,
      `github_pat_${"x".repeat(22)}_${"x".repeat(59)}`,
      "github_pat_your_token_here",
      "github_pat_...",
      `github_pat_${"1".repeat(22)}_${"A".repeat(59)}`,
      `github_pat_${"*".repeat(82)}`,
    ],
  },
  github("gho_", "GitHub OAuth token"),
  github("ghu_", "GitHub app user token"),
  github("ghr_", "GitHub refresh token", undefined, 70),
  github("ghs_", "GitHub installation token"),
  { name: "GitHub installation JWT", variable: "GITHUB_TOKEN", make: installation },
  token({
    name: "GitLab personal token",
    variable: "GITLAB_TOKEN",
    prefix: "glpat-",
    alphabet: base64url,
    length: 20,
    texts: (_, value) => [
      `git remote add origin https://oauth2:${value}@gitlab.com/acme/web.git\n`,
      `curl --header "PRIVATE-TOKEN: ${value}" "https://gitlab.example.com/api/v4/projects"\n`,
      `machine gitlab.com login ci password ${value}\n`,
    ],
  }),
  {
    name: "GitLab routable token",
    variable: "GITLAB_TOKEN",
    make: (draw) => routable(draw, "glpat-"),
    near: (draw) => [`${routable(draw, "glpat-").slice(0, -7)}${draw.text(base36, 7)}`],
  },
  token({
    name: "GitLab deploy token",
    variable: "CI_DEPLOY_PASSWORD",
    prefix: "gldt-",
    alphabet: base64url,
    length: 20,
  }),
  token({
    name: "GitLab runner token",
    variable: "RUNNER_TOKEN",
    prefix: "glrt-",
    alphabet: base64url,
    length: 20,
    texts: (_, value) => [
      `[[runners]]\n  name = "build"\n  url = "https://gitlab.com/"\n  token = "${value}"\n  executor = "docker"\n`,
    ],
  }),
  { name: "GitLab routable runner token", variable: "RUNNER_TOKEN", make: (draw) => routable(draw, "glrt-t1_") },
  token({ name: "GitLab trigger token", variable: "TRIGGER_TOKEN", prefix: "glptt-", alphabet: hex, length: 40 }),
  {
    name: "GitLab job token",
    variable: "CI_JOB_TOKEN",
    make: (draw) => `glcbt-${draw.text(hex, 2)}_${draw.text(base64url, 20)}`,
  },
  token({
    name: "GitLab feed token",
    variable: "FEED_TOKEN",
    prefix: "glft-",
    alphabet: base64url,
    length: 20,
  }),
  token({
    name: "npm token",
    variable: "NPM_TOKEN",
    prefix: "npm_",
    alphabet: base62,
    length: 30,
    tail: crcBase62,
    wrongTail: wrongCrc,
    texts: npmTexts,
    near: () => ["npm_config_registry_authentication_token", "npm_package_config_default_access_value0"],
  }),
  { name: "PyPI token", variable: "TWINE_PASSWORD", make: (draw) => macaroon(draw, "pypi.org"), texts: pypirc },
  {
    name: "TestPyPI token",
    variable: "TWINE_PASSWORD",
    make: (draw) => macaroon(draw, "test.pypi.org"),
    near: (draw) => [`pypi-${draw.text(base64url, 30)}`, "pypi-<your API token>", "pypi-AgENdGVzdC5weXBpLm9yZwI..."],
  },
  token({
    name: "RubyGems key",
    variable: "GEM_HOST_API_KEY",
    prefix: "rubygems_",
    alphabet: hex,
    length: 48,
    texts: (_, value) => [`---\n:rubygems_api_key: ${value}\n`],
  }),
  token({
    name: "crates.io token",
    variable: "CARGO_REGISTRY_TOKEN",
    prefix: "cio",
    alphabet: base62,
    length: 32,
    texts: (_, value) => [`[registry]\ntoken = "${value}"\n`, `cargo login ${value}\n`],
  }),
  token({
    name: "Docker Hub token",
    variable: "DOCKER_PASSWORD",
    prefix: "dckr_pat_",
    alphabet: base64url,
    length: 27,
    texts: (draw, value) => [
      `echo ${value} | docker login -u acme --password-stdin\n`,
      `{"auths":{"https://index.docker.io/v1/":{"auth":"${Buffer.from(`acme${draw.text(lower, 3)}:${value}`).toString("base64")}"}}}\n`,
    ],
  }),
  token({
    name: "Docker Hub organization token",
    variable: "DOCKER_PASSWORD",
    prefix: "dckr_oat_",
    alphabet: base64url,
    length: 32,
  }),
  token({ name: "Artifactory API key", variable: "JFROG_API_KEY", prefix: "AKCp", alphabet: base62, length: 69 }),
  {
    name: "Artifactory reference token",
    variable: "JFROG_ACCESS_TOKEN",
    // The text `reftkn:01:<expiry>:<random>` in base64.
    make: (draw) =>
      Buffer.from(`reftkn:01:${1_700_000_000 + draw.below(90_000_000)}:${draw.text(base62, 27)}`).toString("base64"),
  },
  token({ name: "NuGet key", variable: "NUGET_API_KEY", prefix: "oy2", alphabet: `${lower}234567`, length: 43 }),
  token({ name: "Clojars token", variable: "CLOJARS_PASSWORD", prefix: "CLOJARS_", alphabet: hex, length: 60 }),
  {
    name: "CircleCI token",
    variable: "CIRCLE_TOKEN",
    make: (draw) => `CCIPAT_${draw.text(base58, 22)}_${draw.text(hex, 40)}`,
    near: (draw) => [`CCIPAT_${draw.text(base58, 22)}_${draw.text(hex, 20)}`, "CCIPAT_<base58>_<hex>"],
  },
  {
    name: "CircleCI project token",
    variable: "CIRCLE_TOKEN",
    make: (draw) => `CCIPRJ_${draw.text(base58, 22)}_${draw.text(hex, 40)}`,
  },
  token({ name: "Buildkite token", variable: "BUILDKITE_TOKEN", prefix: "bkua_", alphabet: hex, length: 40 }),
  {
    name: "Bitbucket app password",
    variable: "BITBUCKET_APP_PASSWORD",
    make: (draw) => `ATBB${draw.text(base62, 24)}${draw.text(`${digits}ABCDEF`, 8)}`,
  },
];
