import { createHash } from "node:crypto";
import t from "tap";
import { awsAccountOf } from "../src/checks/aws-account.ts";
import { fromBase32, toBase32 } from "../src/checks/base32.ts";
import { hasBech32Checksum } from "../src/checks/bech32.ts";
import { crc32Base62, hasCrc32Base62 } from "../src/checks/base62.ts";
import { entropy } from "../src/checks/entropy.ts";
import { fingerprintOf } from "../src/checks/fingerprint.ts";
import { isPlaceholder } from "../src/checks/placeholder.ts";
import { isRsaKey } from "../src/checks/private-key.ts";
import { isWords } from "../src/checks/words.ts";
import { rsaExample } from "../src/examples/keys.ts";
import { seededRandom } from "../src/examples/random.ts";
import { exampleOf, scan } from "./harness.ts";

const base62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/** An access key id of this account, made the other way round. */
function accessKeyIdOf(account: bigint, random: number): string {
  const bytes = Buffer.alloc(10, random);
  bytes.writeUIntBE(Number(0x800000000000n | (account << 7n)), 0, 6);
  return `AKIA${toBase32(bytes)}`;
}

await t.test("an access key id names its account in twelve digits", (t) => {
  t.equal(awsAccountOf(`ASIAQNZGKIQY56JQ7WML`), "029608264753");
  for (const account of ["000000000001", "123456789012", "999999999999"])
    t.equal(awsAccountOf(accessKeyIdOf(BigInt(account), 7)), account);
  t.equal(awsAccountOf(`AKIAI${"B".repeat(15)}`), undefined);
  t.equal(awsAccountOf(`AKIAJ${"B".repeat(15)}`), undefined);
  t.end();
});

await t.test("base32 is that of RFC 4648", (t) => {
  for (const [text, written] of [
    ["", ""],
    ["f", "MY"],
    ["fo", "MZXQ"],
    ["foo", "MZXW6"],
    ["foobar", "MZXW6YTBOI"],
  ] as const) {
    t.equal(toBase32(Buffer.from(text)), written);
    t.equal(Buffer.from(fromBase32(written)).toString(), text);
  }
  t.end();
});

await t.test("the checksum of code-host tokens is CRC32 in six base62 digits, padded with zeros", (t) => {
  t.equal(crc32Base62(""), "000000");
  // CRC32 of the usual check text is 0xCBF43926.
  const value = Array.from(crc32Base62("123456789")).reduce((sum, digit) => sum * 62 + base62.indexOf(digit), 0);
  t.equal(value, 0xcbf43926);
  t.ok(hasCrc32Base62(`123456789${crc32Base62("123456789")}`));
  t.notOk(hasCrc32Base62(`123456780${crc32Base62("123456789")}`));
  t.end();
});

await t.test("a wrong checksum means low confidence, in a fine-grained token medium", async (t) => {
  for (const [id, at, confidence] of [
    ["github-personal-token", 10, "low"],
    ["github-oauth-token", 10, "low"],
    ["github-refresh-token", 10, "low"],
    ["npm-token", 10, "low"],
    ["github-fine-grained-token", 20, "medium"],
    ["grafana-service-account-token", 10, "low"],
    ["gitlab-routable-token", 10, "low"],
    ["gitlab-routable-runner-token", 10, "low"],
  ] as const) {
    const token = exampleOf(id);
    t.match(await scan(token), [{ rule_id: id, confidence: "high", checksum: "valid" }]);
    const changed = `${token.slice(0, at)}${token[at] === "k" ? "m" : "k"}${token.slice(at + 1)}`;
    t.match(await scan(changed), [{ rule_id: id, confidence, checksum: "invalid" }]);
  }
});

await t.test("a wrong checksum of an age key means low confidence", async (t) => {
  const key = exampleOf("age-secret-key");
  t.match(await scan(key), [{ rule_id: "age-secret-key", confidence: "high", checksum: "valid" }]);
  const changed = `${key.slice(0, 20)}${key[20] === "Q" ? "P" : "Q"}${key.slice(21)}`;
  t.match(await scan(changed), [{ rule_id: "age-secret-key", confidence: "low", checksum: "invalid" }]);
  // The empty data part of BIP 173's list of valid texts.
  t.ok(hasBech32Checksum("A12UEL5L"));
  t.notOk(hasBech32Checksum("A12UEL5M"));
});

await t.test("the checksum of a fine-grained token covers its first 77 characters", async (t) => {
  const token = exampleOf("github-fine-grained-token", 4);
  const other = (at: number): string => `${token.slice(0, at)}${token[at] === "A" ? "B" : "A"}${token.slice(at + 1)}`;
  t.match(await scan(other(76)), [{ checksum: "invalid" }]);
  t.match(await scan(other(84)), [{ checksum: "invalid" }]);
  t.match(await scan(other(85)), [{ checksum: "valid" }]);
});

await t.test("entropy is in bits per character", (t) => {
  t.equal(entropy("aaaa"), 0);
  t.equal(entropy("abab"), 1);
  t.equal(entropy("abcdefgh"), 3);
  t.end();
});

await t.test("the entropy cut-offs lie below all but one in a thousand of random bodies", (t) => {
  const random = seededRandom(3);
  for (const [alphabet, length, cutOff] of [
    ["ABCDEFGHIJKLMNOPQRSTUVWXYZ234567", 16, 2.8],
    [base62, 24, 3.6],
    [base62, 36, 4.1],
    [`${base62}+/`, 40, 4.25],
  ] as const) {
    const below = Array.from({ length: 10_000 }, () => entropy(random.text(alphabet, length))).filter(
      (e) => e < cutOff,
    );
    t.ok(below.length <= 20, `${length} characters: ${below.length} of 10,000`);
  }
  t.end();
});

await t.test("a fingerprint is of kind and secret alone", (t) => {
  const secret = Buffer.from("secret");
  t.match(fingerprintOf("kind", secret), /^cf1:[0-9a-f]{32}$/);
  // SHA-256 over 00000004 "kind" 00000006 "secret", made with another program.
  t.equal(fingerprintOf("kind", secret), "cf1:37bb6e6ac3f18099d3f83af530d667e1");
  t.not(fingerprintOf("kinds", Buffer.from("ecret")), fingerprintOf("kind", Buffer.from("secret")));
  t.end();
});

await t.test("placeholders are known", (t) => {
  for (const text of [
    "my-example-key",
    "CHANGEME",
    "your_token",
    "xxxxXXXX",
    "a0000b",
    "a12345",
    "${TOKEN}",
    "{{ token }}",
    "%TOKEN%",
    "deadbeef".repeat(4),
    "abcdefghijklmnopqrst",
  ])
    t.ok(isPlaceholder(text), text);
  const digest = createHash("sha256").update("a").digest("hex");
  for (const text of ["hT5sQk2Lw9", "correct horse", digest, `${digest.slice(4)}0000`, `${digest}xXxX`, "%2Fa%2Fb%"])
    t.notOk(isPlaceholder(text), text);
  t.end();
});

await t.test("examples that vendors print in their documentation are not reported", async (t) => {
  const google = (end: string): string => ["AIza", `SyDaGmWKa4JsXZ-HjGw7ISLn_3namBGew${end}`].join("");
  t.same(await scan(google("Qe")), []);
  t.match(await scan(google("Qf")), [{ rule_id: "google-api-key" }]);
});

await t.test("names in code are no random text", (t) => {
  for (const text of [
    "AlibabaCloudOpenSearchSettings",
    "default_token_provider",
    "model-config-service-x",
    "UARuleListResponsesV4PagePaginationArray",
  ])
    t.ok(isWords(text), text);
  for (const text of ["short_name", "AbCdEfGhIjKlMnOpQrStUv", "default_token_provider1"]) t.notOk(isWords(text), text);
  t.end();
});

await t.test("the signature of an address that lasts for hours has low confidence", async (t) => {
  const address = exampleOf("azure-sas-signature").replace(
    "se=2030-01-01",
    "st=2023-12-20T14:54:52Z&se=2023-12-20T22:54:52Z",
  );
  t.match(await scan(address), [{ rule_id: "azure-sas-signature", confidence: "low" }]);
  const longer = address.replace("se=2023-12-20", "se=2024-12-20");
  t.match(await scan(longer), [{ rule_id: "azure-sas-signature", confidence: "medium" }]);
});

await t.test("a key whose modulus is no product of its primes is none", (t) => {
  const random = seededRandom(9);
  const key = rsaExample(random);
  t.ok(isRsaKey(key));
  const changed = Buffer.from(key);
  // A byte in the middle of the modulus.
  changed.writeUInt8((changed.readUInt8(70) + 1) & 0xff, 70);
  t.notOk(isRsaKey(changed));
  t.end();
});

await t.test("the word for a password stands in for one, in other languages too", async (t) => {
  const address = (password: string): string => `mysql://app:${password}@db.internal/app`;
  for (const word of [
    "passwort",
    "Kennwort",
    "contrase\u00f1a",
    "mot-de-passe",
    "my_contrasena",
    "has\u0142o",
    "\u5bc6\u7801",
  ])
    for (const input of [address(word), address(word.normalize("NFD"))]) t.same(await scan(input), [], word);
  t.same(await scan(Buffer.from(address("contrase\u00f1a"), "latin1")), []);
  for (const password of ["passwort9Kq2", "Tr\u00e4ume7Wald", "q\u5bc6\u78017Kz"])
    t.match(await scan(address(password)), [{ rule_id: "database-url", secret: password }]);
});

await t.test("what stands behind a percent sign is part of an address and no access key", async (t) => {
  const id = exampleOf("aws-access-key-id");
  t.same(await scan(`https://files.internal/?name=%${id}`), []);
  t.same(await scan(`https://files.internal/?name=%ACCA${id.slice(4)}`), []);
  t.match(await scan(`https://files.internal/?name=%3D${id}`), [{ rule_id: "aws-access-key-id", secret: id }]);
});

await t.test("a Vercel token with a wrong checksum has medium confidence", async (t) => {
  const token = exampleOf("vercel-vcp-token");
  t.match(await scan(token), [{ confidence: "high", checksum: "valid" }]);
  const changed = `${token.slice(0, -1)}${token.endsWith("q") ? "r" : "q"}`;
  t.match(await scan(changed), [{ confidence: "medium", checksum: "invalid" }]);
});

await t.test("the value of `example` is reported when it has a form of its own", async (t) => {
  const heroku = exampleOf("heroku-older-key").split('"')[1] ?? "";
  t.match(await scan(`heroku_api_key: ${heroku}\n`), [{ rule_id: "heroku-older-key" }]);
  t.match(await scan(`heroku_api_key:\n  default: ${heroku}\n`), [{ rule_id: "heroku-older-key" }]);
  t.same(await scan(`heroku_api_key:\n  example: ${heroku}\n`), []);
  t.same(await scan(`heroku_api_key:\n  examples:\n    - ${heroku}\n`), []);
  t.same(await scan(`{"heroku_api_key": {"example": "${heroku}"}}`), []);
  const token = exampleOf("github-personal-token");
  t.match(await scan(`github_token:\n  type: string\n  example: ${token}\n`), [{ secret: token, confidence: "high" }]);
});
