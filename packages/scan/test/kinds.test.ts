import t from "tap";
import { seededRandom } from "../src/examples/random.ts";
import { exampleOf, ruleOf, scan } from "./harness.ts";

const accessKey = exampleOf("aws-access-key-id");
const secretLine = exampleOf("aws-secret-access-key");
const secretKey = secretLine.slice(-40);

await t.test("an access key alone is medium, with its secret key within five lines high", async (t) => {
  t.match(await scan(`id = ${accessKey}`), [{ kind: "cloud provider access key", confidence: "medium" }]);
  const together = (lines: number) => `id = ${accessKey}${"\n".repeat(lines)}${secretLine}\n`;
  t.match(await scan(together(5)), [{ confidence: "high" }, { rule_id: "aws-secret-access-key" }]);
  t.match(await scan(together(6)), [{ confidence: "medium" }, { rule_id: "aws-secret-access-key" }]);
});

await t.test("a secret key needs a name or an access key within 400 characters", async (t) => {
  const rules = async (text: string) => (await scan(text)).map(({ rule_id }) => rule_id);
  t.same(await rules(`value: ${secretKey}`), []);
  t.same(await rules(`aws_secret_access_key: ${secretKey}`), ["aws-secret-access-key"]);
  t.same(await rules(`${accessKey}${" ".repeat(380)}${secretKey}`), ["aws-access-key-id", "aws-secret-access-key"]);
  t.same(await rules(`${accessKey}${" ".repeat(401)}${secretKey}`), ["aws-access-key-id"]);
  t.same(await rules(`aws_secret_access_key: ${secretKey}=`), []);
  t.same(await rules(`aws_secret_access_key: ${secretKey.slice(0, 30)}EXAMPLEKEY`), []);
});

await t.test("a body of too little entropy is no credential", async (t) => {
  const dull = `${"AB".repeat(4)}${"CD".repeat(4)}`;
  t.same(await scan(`AKIA${dull}`), []);
  t.same(await scan(`sk_live_${"ab".repeat(6)}${"cd".repeat(6)}`), []);
});

await t.test("a secret key is found percent-encoded", async (t) => {
  const text = `aws_secret_access_key=${secretKey.replaceAll("+", "%2B").replaceAll("/", "%2F")}`;
  t.match(await scan(text), [{ rule_id: "aws-secret-access-key", secret: secretKey }]);
});

await t.test("identifiers of AWS that are no credentials are not reported", async (t) => {
  for (const prefix of ["AIDA", "AROA", "AGPA", "AIPA", "ANPA", "ANVA", "ASCA", "APKA"])
    t.same(await scan(`id ${prefix}${accessKey.slice(4)}`), [], prefix);
  t.same(await scan(`${accessKey.slice(0, 13)}EXAMPLE`), []);
});

await t.test("a live key needs a left boundary, and its right side may be a colon", async (t) => {
  for (const id of ["stripe-live-secret-key", "stripe-live-restricted-key"]) {
    const key = exampleOf(id);
    t.match(await scan(`curl -u ${key}:`), [{ rule_id: id, secret: key, confidence: "high" }]);
    t.same(await scan(`ta${key}`), []);
    t.same(await scan(key.replace("_live_", "_live_pk_")), []);
  }
  t.same(await scan(exampleOf("stripe-live-secret-key").replace("sk_", "pk_")), []);
});

await t.test("a live key near another vendor's name has that vendor's rule", async (t) => {
  const key = exampleOf("stripe-live-secret-key");
  t.match(await scan(`CLERK_SECRET_KEY=${key}`), [{ rule_id: "clerk-secret-key" }]);
  t.match(await scan(`PAYSTACK=${key}`), [{ rule_id: "paystack-secret-key" }]);
  t.match(await scan(`STRIPE=${key}`), [{ rule_id: "stripe-live-secret-key" }]);
});

await t.test("a bot token needs its groups of digits", async (t) => {
  const token = exampleOf("slack-bot-token");
  t.match(await scan(token), [{ kind: "chat-platform bot token", secret: token }]);
  t.same(await scan(token.replace(/\d{12}/, "a".repeat(12))), []);
});

await t.test("one webhook has one fingerprint, with and without its scheme and escapes", async (t) => {
  const [full = "", bare = "", escaped = ""] = ruleOf("slack-incoming-webhook").examples.positive(seededRandom(1));
  const found = await Promise.all([full, bare, escaped].map(async (text) => (await scan(text))[0]?.fingerprint));
  t.equal(new Set(found).size, 1);
  t.match(found[0], /^cf1:/);
});

await t.test("one key has one fingerprint in every form of its PEM block", async (t) => {
  const positives = ruleOf("rsa-private-key").examples.positive(seededRandom(1)).slice(0, 8);
  const found = await Promise.all(positives.map((text) => scan(text)));
  for (const each of found) t.match(each, [{ kind: "RSA private key block", confidence: "high" }]);
  t.equal(new Set(found.map(([one]) => one?.fingerprint)).size, 1);
});

await t.test("nothing of a secret is in the report but its prefix", async (t) => {
  for (const id of ["github-personal-token", "slack-bot-token", "rsa-private-key", "aws-secret-access-key"]) {
    const text = exampleOf(id);
    const found = await scan(text, { showSecrets: false });
    t.equal(found.length, 1, id);
    const report = JSON.stringify(found);
    for (const [run] of text.matchAll(/[A-Za-z0-9+/]{12,}/g))
      t.notOk(report.includes(run) && !text.startsWith(`aws_${run}`), id);
    t.equal(found[0]?.secret, undefined);
  }
});

await t.test(
  "a path of tests or fixtures lowers the confidence by one level, below the given folder only",
  async (t) => {
    const token = exampleOf("github-personal-token");
    for (const [path, confidence] of [
      ["src/main.ts", "high"],
      ["test/main.ts", "medium"],
      ["src/main.test.ts", "medium"],
      ["a/fixtures/b", "medium"],
      ["src/MainTest.java", "medium"],
      ["src/latest/contest.ts", "high"],
    ] as const)
      t.match(await scan(token, { path }), [{ confidence }], path);
    t.match(await scan(token, { path: "test/a/b", pathBelow: "b" }), [{ confidence: "high" }]);
  },
);

await t.test("lock files are scanned for everything that has a form of its own", async (t) => {
  const token = exampleOf("npm-token");
  t.match(await scan(token, { path: "package-lock.json" }), [{ rule_id: "npm-token" }]);
  t.match(await scan(secretLine), [{ rule_id: "aws-secret-access-key" }]);
  t.same(await scan(secretLine, { path: "a/yarn.lock" }), []);
});

await t.test("a comment on the line or the one before allows a finding", async (t) => {
  const token = exampleOf("github-personal-token");
  t.same(await scan(`a = "${token}" // coffer:allow`), []);
  t.same(await scan(`// coffer:allow\na = "${token}"`), []);
  t.same(await scan(`// coffer:allow github-personal-token\na = "${token}"`), []);
  t.same(await scan(`a = "${token}" # coffer:allow code-host-personal-token`), []);
  t.equal((await scan(`// coffer:allow npm-token\na = "${token}"`)).length, 1);
  t.equal((await scan(`// coffer:allow\n\na = "${token}"`)).length, 1);
  t.equal((await scan(`a = "${token}"\n// coffer:allow`)).length, 1);
  for (const comment of ["gitleaks:allow", "trufflehog:ignore", "pragma: allowlist secret"]) {
    t.equal((await scan(`a = "${token}" # ${comment}`)).length, 1, comment);
    t.same(await scan(`a = "${token}" # ${comment}`, { compatibleComments: true }), [], comment);
  }
});

await t.test("a URL's password gives way to the token that it is", async (t) => {
  const token = exampleOf("github-personal-token");
  t.match(await scan(`https://user:${token}@github.com/a/b`), [{ rule_id: "github-personal-token" }]);
});
