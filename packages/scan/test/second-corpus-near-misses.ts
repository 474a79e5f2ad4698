import { createHash } from "node:crypto";
import { words } from "./second-corpus-kind.ts";
import { block } from "./second-corpus-kinds-keys.ts";
import { base36, base58, base62, base64, base64url, digits, hex, lower, upper } from "./second-corpus-random.ts";
import type { Draw } from "./second-corpus-random.ts";

/** A whole file without a credential. */
export interface Harmless {
  name: string;
  path: string;
  write(draw: Draw): string;
}

const sri = (draw: Draw): string => `sha512-${draw.bytes(64).toString("base64")}`;
const sha256 = (draw: Draw): string => draw.text(hex, 64);
const sha1 = (draw: Draw): string => draw.text(hex, 40);
const toBase64 = (value: string): string => Buffer.from(value).toString("base64");

/** Names after which a secret would be expected. */
const secretNames = [
  "AWS_SECRET_ACCESS_KEY",
  "GITHUB_TOKEN",
  "STRIPE_SECRET_KEY",
  "DATADOG_API_KEY",
  "TWILIO_AUTH_TOKEN",
  "CLOUDFLARE_API_TOKEN",
  "HEROKU_API_KEY",
  "OKTA_API_TOKEN",
  "ALIBABA_CLOUD_ACCESS_KEY_SECRET",
  "AZURE_CLIENT_SECRET",
  "MAILGUN_API_KEY",
  "VAULT_TOKEN",
  "DATABASE_URL",
];

/** Ways in which configuration refers to a secret that stands elsewhere. */
const references = (name: string): string[] => [
  `${name}=\${${name}}`,
  `${name}=$${name}`,
  `${name}: \${{ secrets.${name} }}`,
  `${name.toLowerCase()} = var.${name.toLowerCase()}`,
  `${name}: {{ .Values.${name.toLowerCase()} | b64enc }}`,
  `${name} = os.environ["${name}"]`,
  `const key = process.env.${name};`,
  `${name}: !Ref ${name}`,
  `${name}: "{{resolve:secretsmanager:prod/${name.toLowerCase()}:SecretString:value}}"`,
  `${name}=op://vault/item/${name.toLowerCase()}`,
  `${name}: vault:secret/data/prod#${name.toLowerCase()}`,
  `${name}=%${name}%`,
  `${name}_FILE=/run/secrets/${name.toLowerCase()}`,
  `${name}=$(aws ssm get-parameter --name /prod/${name.toLowerCase()} --query Parameter.Value)`,
  `${name}: arn:aws:secretsmanager:eu-west-1:123456789012:secret:prod/${name.toLowerCase()}-AbCdEf`,
  `${name}=@Microsoft.KeyVault(SecretUri=https://acme.vault.azure.net/secrets/${name.toLowerCase()}/)`,
  `${name}=<${name.toLowerCase()}>`,
  `${name}=your_${name.toLowerCase()}_here`,
  `${name}=changeme`,
  `${name}=`,
  `${name}="********************************"`,
  `${name}=xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx`,
  `${name}: null`,
  `${name}=example-${name.toLowerCase()}-value`,
  `valueFrom:\n  secretKeyRef:\n    name: web\n    key: ${name}`,
  `${name}: ENC[AES256_GCM,data:${toBase64(name)},iv:${toBase64("0123456789ab")},tag:${toBase64("abcdef")},type:str]`,
];

/** Words in the form of a class name, of exactly this length. */
const capitalized = (draw: Draw, length: number): string =>
  words(draw, " ", length + 6)
    .replace(/(?:^| )([a-z])/g, (_, char: string) => char.toUpperCase())
    .slice(0, length);

const lockFiles: Harmless[] = [
  {
    name: "package-lock",
    path: "package-lock.json",
    write: (draw) =>
      JSON.stringify({
        packages: Object.fromEntries(
          Array.from({ length: 6 }, () => [
            `node_modules/${draw.text(lower, 6)}`,
            { version: "1.2.3", resolved: "https://registry.npmjs.org/a/-/a-1.2.3.tgz", integrity: sri(draw) },
          ]),
        ),
      }),
  },
  {
    name: "yarn.lock",
    path: "yarn.lock",
    write: (draw) =>
      `"@babel/core@^7.0.0":\n  version "7.1.0"\n  resolved "https://registry.yarnpkg.com/@babel/core/-/core-7.1.0.tgz#${sha1(draw)}"\n  integrity ${sri(draw)}\n`,
  },
  {
    name: "pnpm-lock",
    path: "pnpm-lock.yaml",
    write: (draw) => `packages:\n  '@aws-sdk/client-s3@3.1.0':\n    resolution: {integrity: ${sri(draw)}}\n`,
  },
  {
    name: "go.sum",
    path: "go.sum",
    write: (draw) => `github.com/aws/aws-sdk-go v1.2.0 h1:${draw.bytes(32).toString("base64")}\n`,
  },
  {
    name: "Cargo.lock",
    path: "Cargo.lock",
    write: (draw) => `[[package]]\nname = "aws-secret"\nversion = "1.0.0"\nchecksum = "${sha256(draw)}"\n`,
  },
  {
    name: "poetry.lock",
    path: "poetry.lock",
    write: (draw) =>
      `[[package]]\nname = "datadog"\nfiles = [\n    {file = "datadog-0.4.tar.gz", hash = "sha256:${sha256(draw)}"},\n]\n`,
  },
  {
    name: "Pipfile.lock",
    path: "Pipfile.lock",
    write: (draw) => `{"default":{"twilio":{"hashes":["sha256:${sha256(draw)}","md5:${draw.text(hex, 32)}"]}}}\n`,
  },
  {
    name: "composer.lock",
    path: "composer.lock",
    write: (draw) => `{"content-hash":"${draw.text(hex, 32)}","packages":[{"dist":{"reference":"${sha1(draw)}"}}]}\n`,
  },
  {
    name: "requirements",
    path: "requirements.txt",
    write: (draw) => `cloudflare==2.1 --hash=sha256:${sha256(draw)}\nheroku3==5.1 --hash=md5:${draw.text(hex, 32)}\n`,
  },
  {
    name: "flake.lock",
    path: "flake.lock",
    write: (draw) => `{"locked":{"narHash":"sha256-${draw.bytes(32).toString("base64")}","rev":"${sha1(draw)}"}}\n`,
  },
];

const hashes: Harmless[] = [
  {
    name: "image digest",
    path: "Dockerfile",
    write: (draw) => `FROM node:24@sha256:${sha256(draw)}\nFROM cloudflare/cloudflared@sha256:${sha256(draw)}\n`,
  },
  {
    name: "action commit",
    path: ".github/workflows/ci.yml",
    write: (draw) => `      - uses: aws-actions/configure-aws-credentials@${sha1(draw)} # v4\n`,
  },
  {
    name: "commit link",
    path: "CHANGELOG.md",
    write: (draw) => `- fix ([${draw.text(hex, 7)}](https://github.com/heroku/cli/commit/${sha1(draw)}))\n`,
  },
  {
    name: "checksums",
    path: "SHA256SUMS",
    write: (draw) => `${sha256(draw)}  twilio-auth-token.tgz\n${draw.text(hex, 128)}  datadog.tgz\n`,
  },
  {
    name: "uuid list",
    path: "ids.json",
    write: (draw) => `{"heroku_app_id":"${draw.uuid()}","okta_group":"${draw.uuid()}","id":"${draw.uuid()}"}\n`,
  },
  {
    name: "etag",
    path: "cache.json",
    write: (draw) =>
      `{"etag":"\\"${draw.text(hex, 32)}\\"","x-amz-request-id":"${draw.text(base36, 16).toUpperCase()}","x-amz-id-2":"${draw.bytes(56).toString("base64")}"}\n`,
  },
  {
    name: "password hash",
    path: "users.sql",
    write: (draw) => `INSERT INTO users VALUES ('a', '$2b$12$${draw.text(`${base62}./`, 53)}');\n`,
  },
  {
    name: "argon2",
    path: "users.json",
    write: (draw) =>
      `{"password":"$argon2id$v=19$m=65536,t=3,p=4$${draw.text(base64, 22)}$${draw.text(base64, 43)}"}\n`,
  },
  {
    name: "subresource",
    path: "index.html",
    write: (draw) =>
      `<script src="https://js.stripe.com/v3/" integrity="sha384-${draw.bytes(48).toString("base64")}" crossorigin></script>\n`,
  },
  {
    name: "content policy",
    path: "csp.conf",
    write: (draw) =>
      `script-src 'sha256-${draw.bytes(32).toString("base64")}' 'nonce-${draw.bytes(16).toString("base64")}';\n`,
  },
  {
    name: "git object",
    path: "refs.txt",
    write: (draw) => `${sha1(draw)} refs/tags/aws-secret-access-key-rotation\n${sha1(draw)} HEAD\n`,
  },
  {
    name: "file name hash",
    path: "manifest.json",
    write: (draw) => `{"twilio.js":"static/js/twilio.${draw.text(hex, 8)}.chunk.js","dd":"${draw.text(hex, 20)}.js"}\n`,
  },
  {
    name: "blockchain address",
    path: "contracts.json",
    write: (draw) => `{"token":"0x${sha1(draw)}","tx":"0x${sha256(draw)}","btc":"1${draw.text(base58, 33)}"}\n`,
  },
  {
    name: "multihash",
    path: "ipfs.txt",
    write: (draw) => `ipfs://Qm${draw.text(base58, 44)}\nipfs://bafybei${draw.text(`${lower}234567`, 52)}\n`,
  },
  {
    name: "gravatar",
    path: "team.html",
    write: (draw) =>
      `<img src="https://www.gravatar.com/avatar/${createHash("md5").update(draw.text(lower, 8)).digest("hex")}?s=80">\n`,
  },
];

const blobs: Harmless[] = [
  {
    name: "data URI",
    path: "style.css",
    write: (draw) => `a{background:url(data:image/png;base64,iVBORw0KGgo${draw.bytes(1500).toString("base64")})}\n`,
  },
  {
    name: "font",
    path: "font.css",
    write: (draw) =>
      `@font-face{src:url(data:font/woff2;base64,d09GMgABAAAAA${draw.bytes(2500).toString("base64")})}\n`,
  },
  { name: "wasm", path: "lib.js", write: (draw) => `var wasm="AGFzbQEAAAAB${draw.bytes(3000).toString("base64")}";\n` },
  {
    name: "base64 lines",
    path: "attachment.eml",
    write: (draw) =>
      `Content-Transfer-Encoding: base64\n\n${(
        draw
          .bytes(1800)
          .toString("base64")
          .match(/.{1,76}/g) ?? []
      ).join("\n")}\n`,
  },
  {
    name: "base64url",
    path: "links.txt",
    write: (draw) => `https://acme.io/unsubscribe/${draw.text(base64url, 300)}\n`,
  },
  {
    name: "random base62",
    path: "ids.txt",
    write: (draw) => Array.from({ length: 30 }, () => draw.text(base62, draw.between(16, 70))).join("\n"),
  },
  {
    name: "random hex",
    path: "hex.txt",
    write: (draw) =>
      Array.from({ length: 30 }, () => draw.text(hex, draw.pick([16, 24, 32, 37, 40, 64, 96]))).join("\n"),
  },
  {
    name: "random capitals",
    path: "codes.txt",
    write: (draw) => Array.from({ length: 30 }, () => draw.text(`${upper}${digits}`, draw.between(16, 30))).join("\n"),
  },
  {
    name: "source map",
    path: "app.js.map",
    write: (draw) =>
      JSON.stringify({
        version: 3,
        sources: ["a.ts"],
        mappings: Array.from({ length: 400 }, () => draw.text(base64, draw.pick([4, 5, 6]))).join(
          draw.pick([",", ";"]),
        ),
      }),
  },
  {
    name: "SVG path",
    path: "logo.svg",
    write: (draw) =>
      `<path d="M${Array.from({ length: 60 }, () => `${draw.below(99)}.${draw.below(99)}`).join(" ")}z"/>\n`,
  },
  {
    name: "certificate data",
    path: "kubeconfig",
    write: (draw) =>
      `clusters:\n- cluster:\n    certificate-authority-data: ${toBase64(block("CERTIFICATE", draw.bytes(500).toString("base64")))}\n`,
  },
  {
    name: "certificate chain",
    path: "chain.pem",
    write: (draw) =>
      `${block("CERTIFICATE", draw.bytes(700).toString("base64"))}${block("CERTIFICATE", draw.bytes(700).toString("base64"))}`,
  },
  {
    name: "sealed secret",
    path: "sealed.yaml",
    write: (draw) =>
      `kind: SealedSecret\nspec:\n  encryptedData:\n    AWS_SECRET_ACCESS_KEY: AgB${draw.bytes(400).toString("base64")}\n`,
  },
  {
    name: "ansible vault",
    path: "vault.yml",
    write: (draw) => `$ANSIBLE_VAULT;1.1;AES256\n${draw.text(digits, 80)}\n${draw.text(digits, 80)}\n`,
  },
  {
    name: "sops",
    path: "secrets.enc.yaml",
    write: (draw) =>
      `stripe_secret_key: ENC[AES256_GCM,data:${draw.bytes(30).toString("base64")},iv:${draw.bytes(32).toString("base64")},tag:${draw.bytes(16).toString("base64")},type:str]\n`,
  },
  {
    name: "age file",
    path: "secret.age",
    write: (draw) =>
      `age-encryption.org/v1\n-> X25519 ${draw.text(base64, 43)}\n${draw.text(base64, 43)}\n--- ${draw.text(base64, 43)}\n`,
  },
  {
    name: "rails credentials",
    path: "config/credentials.yml.enc",
    write: (draw) =>
      `${draw.bytes(300).toString("base64")}--${draw.bytes(12).toString("base64")}--${draw.bytes(16).toString("base64")}`,
  },
  {
    name: "Kubernetes placeholder",
    path: "secret.yaml",
    write: () =>
      `apiVersion: v1\nkind: Secret\ndata:\n  AWS_SECRET_ACCESS_KEY: ${toBase64("changeme")}\n  STRIPE_SECRET_KEY: ${toBase64("<your key>")}\n`,
  },
  {
    name: "public SSH keys",
    path: "authorized_keys",
    write: (draw) =>
      `ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAABAQ${draw.text(base64, 340)} ci@acme.io\nssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI${draw.text(base64, 43)}\n`,
  },
];

const code: Harmless[] = [
  {
    name: "prefix check",
    path: "validate.ts",
    write: (draw) =>
      `if (!key.startsWith("${draw.pick(["sk_live_", "ghp_", "xoxb-", "AKIA", "SG.", "hf_", "glpat-"])}")) throw new Error("bad key");\n`,
  },
  {
    name: "pattern",
    path: "rules.ts",
    write: (draw) =>
      `const pattern = /${draw.pick(["ghp_[A-Za-z0-9]{36}", "AKIA[A-Z2-7]{16}", "sk_live_[0-9a-zA-Z]{24,99}", "xox[baprs]-[0-9]{10,13}-[0-9a-zA-Z]{24}", "AIza[0-9A-Za-z_-]{35}"])}/g;\n`,
  },
  {
    name: "documentation",
    path: "docs/keys.md",
    write: (draw) =>
      `Keys start with \`${draw.pick(["sk_live_", "rk_live_", "ghp_", "dop_v1_", "npm_", "hvs.", "shpat_"])}\` and look like \`${draw.pick(["sk_live_…", "ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx", "dop_v1_<64 hex digits>"])}\`.\n`,
  },
  {
    name: "identifiers",
    path: "names.java",
    write: (draw) =>
      `class ${words(draw, "", 40)} extends ${words(draw, "", 36)} { String awsSecretAccessKeyName = "${words(draw, "-", 40)}"; }\n`,
  },
  {
    name: "paths with AWS",
    path: "paths.py",
    write: (draw) =>
      `aws_secret_key_path = "/${words(draw, "/", 39)}"\naws_secret_access_key_file = "${words(draw, "/", 40)}"\n`,
  },
  {
    name: "translation",
    path: "en.json",
    write: () =>
      `{"aws_secret_access_key":"Enter the secret access key of your account","token":"Personal access token (classic)"}\n`,
  },
  {
    name: "minified",
    path: "app.min.js",
    write: (draw) =>
      Array.from(
        { length: 60 },
        () =>
          `function ${draw.text(lower, 2)}(${draw.text(lower, 1)}){return"${draw.text(base62, draw.between(3, 20))}"+${draw.text(lower, 1)}.${draw.text(lower, 2)}_${draw.text(base62, 6)}}`,
      ).join(""),
  },
  {
    name: "webpack ids",
    path: "bundle.js",
    write: (draw) =>
      `(self.webpackChunk=self.webpackChunk||[]).push([["${draw.text(hex, 20)}"],{${draw.below(9999)}:(e,t,n)=>{"use strict";n.d(t,{A:()=>${draw.text(lower, 1)}})}}]);\n`,
  },
  {
    name: "test card",
    path: "cards.ts",
    write: () => `export const cards = ["4242424242424242", "4000056655665556", "5555555555554444"];\n`,
  },
  {
    name: "class names of a vendor",
    path: "__init__.py",
    write: (draw) =>
      `from alibaba.store import (\n    AlibabaCloud${capitalized(draw, 18)},\n    AlibabaCloudOpenSearchSettings,\n)\n`,
  },
  {
    name: "short-lived signature",
    path: "location.md",
    write: (draw) => {
      const day = `20${draw.between(20, 25)}-12-${draw.between(10, 28)}`;
      const signature = encodeURIComponent(draw.bytes(32).toString("base64"));
      return `token: "sp=r&st=${day}T14:54:52Z&se=${day}T22:54:52Z&spr=https&sv=2021-06-08&sr=c&sig=${signature}"\n`;
    },
  },
  {
    name: "public keys of vendors",
    path: "public.env",
    write: (draw) =>
      `STRIPE_PUBLISHABLE_KEY=pk_live_${draw.text(base62, 99)}\nSENTRY_DSN=https://${draw.text(hex, 32)}@o${draw.text(digits, 6)}.ingest.sentry.io/${draw.text(digits, 7)}\nGOOGLE_CLIENT_ID=${draw.text(digits, 12)}-${draw.text(base36, 32)}.apps.googleusercontent.com\nALGOLIA_APP_ID=${draw.text(upper, 10)}\nMAPBOX_TOKEN=pk.abc\nRECAPTCHA_SITE_KEY=6L${draw.text(base64url, 38)}\n`,
  },
  {
    name: "object ids",
    path: "fixtures.rb",
    write: (draw) =>
      `cus_${draw.text(base62, 14)} ch_3${draw.text(base62, 23)} pi_3${draw.text(base62, 23)} evt_1${draw.text(base62, 23)} acct_1${draw.text(base62, 15)} AC${draw.text(hex, 32)} SM${draw.text(hex, 32)} PN${draw.text(hex, 32)}\n`,
  },
  {
    name: "e-mail in URL",
    path: "links.md",
    write: (draw) =>
      `[mail](https://acme.io/?to=a@${draw.text(lower, 5)}.io) https://medium.com/@${draw.text(lower, 6)}/a:b@c git@github.com:acme/${draw.text(lower, 4)}.git\n`,
  },
  {
    name: "local databases",
    path: "compose.yaml",
    write: (draw) =>
      `DATABASE_URL: ${draw.pick(["postgres://postgres:postgres@localhost:5432/app", "mysql://root:root@127.0.0.1/app", "postgresql://user:password@db/app", "redis://:@localhost:6379", "mongodb://mongo:27017/app", "amqp://guest:guest@localhost:5672/"])}\n`,
  },
  {
    name: "log of masked values",
    path: "ci.log",
    write: (draw) =>
      `env:\n  AWS_SECRET_ACCESS_KEY: ***\n  GITHUB_TOKEN: ***\nghp_****${draw.text(base62, 4)} sk_live_****${draw.text(base62, 4)} AKIA************${draw.text(upper, 4)}\n`,
  },
  {
    name: "words with prefixes",
    path: "words.txt",
    write: (draw) =>
      `task_live_${draw.text(lower, 24)} disk_live_${draw.text(lower, 26)} half_${draw.text(lower, 30)} snapi_${draw.text(lower, 20)} Maps.${words(draw, "", 22)}.${words(draw, "", 43)} hvs.${words(draw, "", 24)}\n`,
  },
  {
    name: "public JWK",
    path: "jwks.json",
    write: (draw) =>
      `{"keys":[{"kty":"EC","crv":"P-256","kid":"${draw.text(base64url, 43)}","x":"${draw.text(base64url, 43)}","y":"${draw.text(base64url, 43)}"}]}\n`,
  },
  {
    name: "version list",
    path: "versions.txt",
    write: (draw) =>
      Array.from(
        { length: 20 },
        () => `v1.0-${draw.text(hex, 8)} 0.${draw.below(99)}.${draw.below(99)}-rc.${draw.text(hex, 7)}`,
      ).join("\n"),
  },
];

/** Files that hold what looks like a credential and is none. */
export const harmless: Harmless[] = [...lockFiles, ...hashes, ...blobs, ...code];

/** Lines in which a name of a secret has no secret. */
export function referenceLines(draw: Draw): { name: string; path: string; text: string }[] {
  return secretNames.flatMap((name) =>
    references(name).map((line) => ({
      name: "reference",
      path: draw.pick([".env.production", "deploy.yaml", "main.tf", "src/config.ts", "config.py"]),
      text: `region: eu\n${line}\nport: 80\n`,
    })),
  );
}
