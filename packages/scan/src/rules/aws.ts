import { awsAccountOf } from "../checks/aws-account.ts";
import { entropy } from "../checks/entropy.ts";
import { isWords } from "../checks/words.ts";
import type { Random } from "../examples/random.ts";
import type { Candidate, Found, Rule, Verdict } from "../rule.ts";
import { contextLength, laterLine } from "./context-rule.ts";
import { base62, base64, leftEdge, ofCharacters, tokenRule } from "./shape.ts";

const accessKeyId = /(?<![A-Za-z0-9%])(?:AKIA|ASIA|ABIA|ACCA)[A-Z2-7]{16}(?![A-Za-z0-9])/;
/** A name that stands before a secret key: `aws_secret_access_key`, `SecretAccessKey`, `aws.s3.secret`. */
const secretName = new RegExp(
  `(?:aws[^\\n]{0,40}?(?:secret|private|sk\\b)|secret[ _.-]?access[ _.-]?key|(?:aws|s3)[ _.-]{0,2}(?:access[ _.-]?)?(?:secret[ _.-]?)?key(?![ _.-]?id)|secret[ _.-]?key)[^\\n]{0,60}${laterLine}`,
  "i",
);
/** The text that SOPS writes in place of a secret. */
const encrypted = /ENC\[[^\]\n]{0,300}$/;
const idDistance = 400;
const keyCharacters = new Uint8Array(256);
for (const sign of "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")
  keyCharacters[sign.charCodeAt(0)] = 1;

const secretExample = (random: Random): string => {
  for (;;) {
    const text = random.text("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/", 40);
    if (isKeyMaterial(text) && !/^[+/]|[+/]$/.test(text) && !/x{4}|0{4}|12345/i.test(text)) return text;
  }
};
const idExample = (random: Random): string => {
  for (;;) {
    const body = random.text("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567", 16);
    if (entropy(body) >= 2.8 && !/EXAMPLE|X{4}|DUMMY/.test(body)) return `AKIA${body}`;
  }
};

/**
 * Characters that make a run of base64 a part of something longer: url-safe base64, or one that
 * ends in `=`.
 */
const continues = new Set(["-", "_"]);

const keyLength = 40;

/** Runs of exactly 40 characters of base64 that are no part of a longer text. */
function findKeyMaterial(text: string): Found[] {
  const found: Found[] = [];
  let done = 0;
  // A run that is long enough contains every fortieth character.
  for (let at = keyLength - 1; at < text.length; at += keyLength) {
    if (!isKeyCharacter(text, at)) continue;
    let start = at;
    while (start > done && isKeyCharacter(text, start - 1)) start -= 1;
    let end = at + 1;
    while (end < text.length && isKeyCharacter(text, end)) end += 1;
    if (isWholeKey(text, start, end)) found.push({ start: end - keyLength, end });
    done = end;
    at = end;
  }
  return found;
}

function isKeyCharacter(text: string, at: number): boolean {
  return keyCharacters[text.charCodeAt(at)] === 1;
}

function isWholeKey(text: string, start: number, end: number): boolean {
  if (text[end] === "=" || continues.has(text.charAt(end)) || continues.has(text.charAt(start - 1))) return false;
  if (end - start === keyLength) return true;
  // Behind an escape such as \n its letter is no part of the run.
  return end - start === keyLength + 1 && text[start - 1] === "\\" && "nrt".includes(text.charAt(start));
}

/** A secret key mixes capital letters, small letters and digits, and is no hash in hexadecimal. */
function isKeyMaterial(text: string): boolean {
  return (
    /[a-z]/.test(text) &&
    /[A-Z]/.test(text) &&
    /[0-9]/.test(text) &&
    !/^[0-9a-fA-F]{40}$/.test(text) &&
    entropy(text) >= 4.25
  );
}

function checkSecretKey({ secret, before, after }: Candidate): Verdict | null {
  if (!isKeyMaterial(secret) || isWords(secret) || /EXAMPLEKEY$/i.test(secret)) return null;
  const left = before(contextLength);
  if (encrypted.test(left)) return null;
  if (secretName.test(left)) return { confidence: "high" };
  return accessKeyId.test(before(idDistance)) || accessKeyId.test(after(idDistance)) ? { confidence: "medium" } : null;
}

export const awsRules: readonly Rule[] = [
  {
    id: "aws-access-key-id",
    kind: "cloud provider access key",
    description: "AWS access key id",
    reference: "https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_identifiers.html",
    revoke: "https://console.aws.amazon.com/iam/home#/security_credentials",
    keywords: ["AKIA", "ASIA", "ABIA", "ACCA"],
    pattern: new RegExp(`${leftEdge}(?<secret>(?:AKIA|ASIA|ABIA|ACCA)[A-Z2-7]{16})(?![A-Za-z0-9])`, "gd"),
    confidence: "medium",
    minEntropy: 2.8,
    pairsWith: "aws-secret-access-key",
    check: ({ secret, before }) => {
      // Behind a percent sign `AB` and `AC` are a byte of an address, and no start of a key.
      if (secret.endsWith("EXAMPLE") || before(1) === "%") return null;
      const accountId = awsAccountOf(secret);
      return { confidence: "medium", ...(accountId === undefined ? {} : { accountId }) };
    },
    examples: {
      positive: (random) => [idExample(random)],
      negative: (random) => {
        const id = idExample(random);
        return [
          `${id.slice(0, -7)}EXAMPLE`,
          id.slice(0, -1),
          `%${id}`,
          `?q=%ACCA${id.slice(4)}`,
          `${id}7`,
          `x${id}`,
          id.replace("AKIA", "AIDA"),
          `AKIA${"A".repeat(16)}`,
        ];
      },
    },
  },
  {
    id: "aws-secret-access-key",
    kind: "cloud provider secret key",
    description: "AWS secret access key",
    reference: "https://docs.aws.amazon.com/IAM/latest/UserGuide/id_credentials_access-keys.html",
    revoke: "https://console.aws.amazon.com/iam/home#/security_credentials",
    keywords: ["secret", "aws", "AKIA", "ASIA", "ABIA", "ACCA"],
    anyCase: true,
    window: { before: 460, after: 460 },
    find: findKeyMaterial,
    confidence: "high",
    contextOnly: true,
    check: checkSecretKey,
    examples: {
      positive: (random) => [
        `aws_secret_access_key = ${secretExample(random)}`,
        `"SecretAccessKey": "${secretExample(random)}"`,
        `AWS_SECRET=${secretExample(random)}`,
        `variable "aws_secret_key" {\n  type    = string\n  default = "${secretExample(random)}"\n}`,
      ],
      negative: (random) => [
        `checksum = ${secretExample(random)}`,
        `aws_secret_access_key = ${random.text("0123456789abcdef", 40)}`,
        `aws_secret_access_key = ${secretExample(random)}=`,
        `aws_secret_access_key = ${secretExample(random)}a`,
        `awscli/examples/secret-key.rst,sha256=hB-${secretExample(random)},274`,
        `aws_secret_key_digest: ${secretExample(random)}_k`,
        `aws_secret_access_key = ${secretExample(random).slice(0, 30)}EXAMPLEKEY`,
        "aws_secrets.SecretKey(OAuth2CredentialProviderFactoryBaseProps)",
        `aws_secret_access_key: ENC[AES256_GCM,data:${secretExample(random)},iv:a,tag:b,type:str]`,
      ],
    },
  },
  tokenRule({
    id: "aws-session-token",
    kind: "cloud provider session token",
    description: "AWS session token",
    reference: "https://docs.aws.amazon.com/IAM/latest/UserGuide/id_credentials_temp_use-resources.html",
    shape: ["IQoJb3JpZ2lu", ofCharacters("A-Za-z0-9+/=", 200, 2000)],
    window: { before: 64, after: 2200 },
    minEntropy: 4.5,
  }),
  tokenRule({
    id: "aws-bedrock-api-key",
    kind: "cloud provider API key",
    description: "Amazon Bedrock API key",
    reference: "https://docs.aws.amazon.com/bedrock/latest/userguide/api-keys.html",
    revoke: "https://console.aws.amazon.com/iam/home#/security_credentials",
    shape: ["ABSK", base64(109, 269)],
    minEntropy: 4.5,
  }),
  tokenRule({
    id: "aws-mws-token",
    kind: "marketplace API token",
    description: "Amazon Marketplace Web Service token",
    reference: "https://developer-docs.amazon.com/sp-api/docs/authorizing-selling-partner-api-applications",
    shape: ["amzn.mws.", base62(8), "-", base62(4), "-", base62(4), "-", base62(4), "-", base62(12)],
  }),
];
