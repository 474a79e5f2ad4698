import { hasBech32Checksum, withBech32Checksum } from "../checks/bech32.ts";
import { findPemBlocks, keyInBlock, pgpPackets } from "../checks/pem.ts";
import type { PrivateKey } from "../checks/private-key.ts";
import {
  dsaExample,
  ecExample,
  encryptedPkcs8Example,
  opensshExample,
  pem,
  pgpExample,
  pkcs8Example,
  rsaExample,
} from "../examples/keys.ts";
import type { Random } from "../examples/random.ts";
import type { Rule } from "../rule.ts";
import { ofCharacters, tokenRule } from "./shape.ts";

const window = { before: 96, after: 17 * 1024 };
const shown = /^-----BEGIN [A-Z0-9 ]{1,50}-----/;

type KeyRow = Pick<Rule, "id" | "kind" | "description" | "reference" | "examples"> & {
  fits: (key: PrivateKey, label: string) => boolean;
};

function keyRule({ fits, ...row }: KeyRow): Rule {
  return {
    ...row,
    revoke: "replace the key pair wherever its public key is trusted",
    keywords: ["PRIVATE KEY-----"],
    window,
    shown,
    find: findPemBlocks,
    confidence: "high",
    check: ({ groups }) => {
      const key = keyInBlock(groups);
      if (key === null || !fits(key, groups["label"] ?? "")) return null;
      return { confidence: key.encrypted ? "medium" : "high", identity: key.bytes };
    },
  };
}

/** A line break, also as an escape, with the indentation or the sign of a diff behind it. */
const lineBreak = String.raw`(?:\r?\n|(?:\\r)?\\n)[ \t+]{0,8}`;
const puttyBody = String.raw`(?:[A-Za-z0-9+/=]{1,64}${lineBreak}){1,80}`;
const puttyPattern = new RegExp(
  [
    String.raw`(?<secret>PuTTY-User-Key-File-[23]: [a-z0-9-]{3,40}${lineBreak}Encryption: [^\r\n\\]{1,40}${lineBreak}`,
    String.raw`Comment: [^\r\n\\]{0,200}${lineBreak}Public-Lines: [0-9]{1,3}${lineBreak}${puttyBody}`,
    String.raw`(?:[A-Z][A-Za-z0-9-]{1,30}: [^\r\n\\]{1,200}${lineBreak}){0,6}Private-Lines: [0-9]{1,3}${lineBreak}${puttyBody}`,
    String.raw`Private-MAC: [0-9a-f]{40,64})(?![0-9a-f])`,
  ].join(""),
  "gd",
);

const mangled = (random: Random, label: string): string[] => [
  pem(label, random.bytes(600)),
  `-----BEGIN ${label}-----\nMIIEpAIBAAKCAQEA...\n-----END ${label}-----`,
  `-----BEGIN ${label}-----\n${"x".repeat(64)}\n-----END ${label}-----`,
];

/** Source code that writes a block. */
const pgpProgram = `case enums.armor.privateKey:
  result.push('-----BEGIN PGP PRIVATE KEY BLOCK-----\\n');
  result.push(addheader(customComment, config));
  result.push(base64.encode(body));
  result.push('=', getCheckSum(bodyClone));
  result.push('-----END PGP PRIVATE KEY BLOCK-----\\n');
  break;
`;

export const privateKeyRules: readonly Rule[] = [
  keyRule({
    id: "rsa-private-key",
    kind: "RSA private key block",
    description: "RSA private key",
    reference: "https://www.rfc-editor.org/rfc/rfc8017#appendix-A.1.2",
    fits: ({ algorithm }) => algorithm === "rsa",
    examples: {
      positive: (random) => {
        const rsa = rsaExample(random);
        const block = pem("RSA PRIVATE KEY", rsa);
        const encrypted = pem("RSA PRIVATE KEY", random.bytes(608)).replace(
          "-----\n",
          "-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,00112233445566778899AABBCCDDEEFF\n\n",
        );
        return [
          block,
          pem("RSA PRIVATE KEY", rsa, "\r\n"),
          JSON.stringify({ key: `${block}\n` }),
          `key: |\n${block.replace(/^/gm, "  ")}\n`,
          block.replace(/^/gm, "+"),
          `"${block.split("\n").join('\\n" +\n  "')}"`,
          `"${block.split("\n").join('" + "')}"`,
          Buffer.from(block).toString("base64"),
          pem("PRIVATE KEY", pkcs8Example(random)),
          pem("ENCRYPTED PRIVATE KEY", encryptedPkcs8Example(random, 1200)),
          pem("OPENSSH PRIVATE KEY", opensshExample(random, "ssh-rsa", 900)),
          encrypted,
        ];
      },
      negative: (random) => [
        ...mangled(random, "RSA PRIVATE KEY"),
        ...mangled(random, "PRIVATE KEY"),
        pem("RSA PUBLIC KEY", rsaExample(random)),
        pem("EC PRIVATE KEY", ecExample(random)),
      ],
    },
  }),
  keyRule({
    id: "openssh-private-key",
    kind: "OpenSSH private key block",
    description: "OpenSSH private key of another algorithm than RSA",
    reference: "https://man.openbsd.org/ssh-keygen",
    fits: ({ algorithm }, label) => algorithm !== "rsa" && label.startsWith("OPENSSH"),
    examples: {
      positive: (random) => [pem("OPENSSH PRIVATE KEY", opensshExample(random, "ssh-ed25519", 160))],
      negative: (random) => mangled(random, "OPENSSH PRIVATE KEY"),
    },
  }),
  keyRule({
    id: "ec-private-key",
    kind: "EC private key block",
    description: "EC private key",
    reference: "https://www.rfc-editor.org/rfc/rfc5915",
    fits: ({ algorithm }) => algorithm === "ec",
    examples: {
      positive: (random) => [pem("EC PRIVATE KEY", ecExample(random))],
      negative: (random) => mangled(random, "EC PRIVATE KEY"),
    },
  }),
  keyRule({
    id: "dsa-private-key",
    kind: "DSA private key block",
    description: "DSA private key",
    reference: "https://csrc.nist.gov/pubs/fips/186-4/final",
    fits: ({ algorithm }) => algorithm === "dsa",
    examples: {
      positive: (random) => [pem("DSA PRIVATE KEY", dsaExample(random))],
      negative: (random) => mangled(random, "DSA PRIVATE KEY"),
    },
  }),
  keyRule({
    id: "pkcs8-private-key",
    kind: "private key block",
    description: "PKCS#8 private key of another algorithm than RSA, EC and DSA, or encrypted",
    reference: "https://www.rfc-editor.org/rfc/rfc5958",
    fits: ({ algorithm }, label) => algorithm === "other" && !label.startsWith("OPENSSH"),
    examples: {
      positive: (random) => [pem("ENCRYPTED PRIVATE KEY", encryptedPkcs8Example(random, 144))],
      negative: (random) => mangled(random, "PRIVATE KEY"),
    },
  }),
  {
    id: "pgp-private-key",
    kind: "PGP private key block",
    description: "OpenPGP private key",
    reference: "https://www.rfc-editor.org/rfc/rfc9580",
    revoke: "publish the key's revocation certificate",
    keywords: ["PGP PRIVATE KEY BLOCK-----"],
    window,
    shown,
    confidence: "high",
    check: ({ groups }) => {
      const identity = pgpPackets(groups["body"] ?? "");
      return identity === null ? null : { confidence: "high", identity };
    },
    find: (text) => {
      const found = [];
      for (const match of text.matchAll(/-----BEGIN PGP PRIVATE KEY BLOCK-----/g)) {
        const bodyStart = match.index + match[0].length;
        const end = text.indexOf("-----END PGP PRIVATE KEY BLOCK-----", bodyStart);
        const next = text.indexOf("-----BEGIN", bodyStart);
        if (end < 0 || end - bodyStart < 200 || end - bodyStart > 16_384 || (next >= 0 && next < end)) continue;
        const body = text.slice(bodyStart, end);
        found.push({ start: match.index, end: end + "-----END PGP PRIVATE KEY BLOCK-----".length, groups: { body } });
      }
      return found;
    },
    examples: {
      positive: (random) => [pem("PGP PRIVATE KEY BLOCK", pgpExample(random))],
      negative: (random) => [
        pem("PGP PUBLIC KEY BLOCK", pgpExample(random)),
        pem("PGP PRIVATE KEY BLOCK", Uint8Array.from([0x99, ...random.bytes(600)])),
        pgpProgram,
        "-----BEGIN PGP PRIVATE KEY BLOCK-----\n...\n-----END PGP PRIVATE KEY BLOCK-----",
      ],
    },
  },
  {
    id: "putty-private-key",
    kind: "PuTTY private key file",
    description: "PuTTY private key",
    reference: "https://the.earth.li/~sgtatham/putty/latest/htmldoc/AppendixC.html",
    keywords: ["PuTTY-User-Key-File-"],
    window: { before: 64, after: 8192 },
    pattern: puttyPattern,
    confidence: "high",
    check: ({ secret }) => ({
      confidence: "high",
      identity: Buffer.from(secret.replace(/(?:\r?\n|(?:\\r)?\\n)[ \t+]{0,8}/g, "\n"), "latin1"),
    }),
    examples: {
      positive: (random) => [puttyExample(random)],
      negative: (random) => [puttyExample(random).replace(/Private-Lines[^]*/, ""), "PuTTY-User-Key-File-2: ssh-rsa"],
    },
  },
  tokenRule({
    id: "age-secret-key",
    kind: "age secret key",
    description: "age identity",
    reference: "https://age-encryption.org",
    shape: ["AGE-SECRET-KEY-1", ofCharacters("QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L", 58)],
    hasChecksum: true,
    check: ({ secret }) =>
      hasBech32Checksum(secret)
        ? { confidence: "high", checksum: "valid" }
        : { confidence: "low", checksum: "invalid" },
    seal: withBech32Checksum,
  }),
  {
    id: "jwk-private-key",
    kind: "private key in JWK form",
    description: "Private member of a JSON Web Key",
    reference: "https://www.rfc-editor.org/rfc/rfc7517",
    keywords: ['"d":', '"d" :', '"d\\":'],
    window: { before: 8, after: 600 },
    pattern: /\\?"d\\?"\s{0,2}:\s{0,2}\\?"(?<secret>[A-Za-z0-9_-]{43,400})\\?"/dg,
    confidence: "medium",
    minEntropy: 4.3,
    shown: /^$/,
    check: ({ before, after }) =>
      /"kty\\?"\s{0,2}:\s{0,2}\\?"(?:EC|OKP|RSA)/.test(`${before(600)}${after(600)}`) ? { confidence: "medium" } : null,
    examples: {
      positive: (random) => [`{"kty":"EC","crv":"P-256","d":"${random.bytes(32).toString("base64url")}"}`],
      negative: (random) => [
        `{"d":"${random.bytes(32).toString("base64url")}"}`,
        `{"kty":"EC","x":"${random.bytes(32).toString("base64url")}"}`,
        `{"kty":"EC","d":"${"A".repeat(43)}"}`,
      ],
    },
  },
];

function puttyExample(random: Random): string {
  const lines = (count: number): string =>
    Array.from({ length: count }, () => random.bytes(48).toString("base64")).join("\n");
  return `PuTTY-User-Key-File-3: ssh-ed25519\nEncryption: none\nComment: key\nPublic-Lines: 2\n${lines(2)}\nPrivate-Lines: 1\n${lines(1)}\nPrivate-MAC: ${random.text("0123456789abcdef", 64)}`;
}
