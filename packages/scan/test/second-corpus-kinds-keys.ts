import { createHash, createHmac, generateKeyPairSync } from "node:crypto";
import type { KeyObject } from "node:crypto";
import { crc24 } from "./second-corpus-checksums.ts";
import type { Kind } from "./second-corpus-kind.ts";
import { base64, draw as newDraw } from "./second-corpus-random.ts";
import type { Draw } from "./second-corpus-random.ts";

interface KeyForms {
  pkcs1: string;
  pkcs8: string;
  encryptedPkcs1: string;
  encryptedPkcs8: string;
  openssh: string;
  putty: string;
  jwk: string;
  publicPem: string;
  publicSsh: string;
  publicJwk: string;
}

const passphrase = "correct horse";

function rsaForms(draw: Draw): KeyForms {
  const { privateKey, publicKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
  const parts = privateKey.export({ format: "jwk" }) as Record<string, string>;
  return {
    pkcs1: pemOf(privateKey, "pkcs1"),
    pkcs8: pemOf(privateKey, "pkcs8"),
    encryptedPkcs1: pemOf(privateKey, "pkcs1", "aes-128-cbc"),
    encryptedPkcs8: pemOf(privateKey, "pkcs8", "aes-256-cbc"),
    openssh: opensshRsa(draw, parts),
    putty: puttyRsa(draw, parts),
    jwk: JSON.stringify({ ...parts, use: "sig", kid: "2026-05" }),
    publicPem: publicKey.export({ type: "spki", format: "pem" }).toString(),
    publicSsh: `ssh-rsa ${rsaBlob(parts).toString("base64")} ci@acme.io`,
    publicJwk: JSON.stringify({ ...publicKey.export({ format: "jwk" }), use: "sig", kid: "2026-05" }),
  };
}

function pemOf(key: KeyObject, type: "pkcs1" | "pkcs8" | "sec1", cipher?: string): string {
  const lock = cipher === undefined ? {} : { cipher, passphrase };
  return key.export({ type, format: "pem", ...lock } as never).toString();
}

const sized = (bytes: Uint8Array | string): Buffer => {
  const body = Buffer.from(bytes as Uint8Array);
  const size = Buffer.alloc(4);
  size.writeUInt32BE(body.length);
  return Buffer.concat([size, body]);
};

/** An SSH multi-precision integer: a leading zero keeps it positive. */
const integer = (text = ""): Buffer => {
  const bytes = Buffer.from(text, "base64url");
  return sized((bytes[0] ?? 0) > 127 ? Buffer.concat([Buffer.alloc(1), bytes]) : bytes);
};

const rsaBlob = ({ e, n }: Record<string, string>): Buffer => Buffer.concat([sized("ssh-rsa"), integer(e), integer(n)]);

function opensshRsa(draw: Draw, parts: Record<string, string>): string {
  const { n, e, d, qi, p, q } = parts;
  const secret = [sized("ssh-rsa"), ...[n, e, d, qi, p, q].map((part) => integer(part)), sized("ci@acme.io")];
  return opensshPem(draw, rsaBlob(parts), Buffer.concat(secret));
}

function opensshEd25519(draw: Draw): string {
  const { x, d } = ed25519.privateKey.export({ format: "jwk" }) as Record<string, string>;
  const open = Buffer.from(x ?? "", "base64url");
  const pair = Buffer.concat([Buffer.from(d ?? "", "base64url"), open]);
  const blob = Buffer.concat([sized("ssh-ed25519"), sized(open)]);
  return opensshPem(draw, blob, Buffer.concat([sized("ssh-ed25519"), sized(open), sized(pair), sized("ci")]));
}

/** PROTOCOL.key of OpenSSH, without a passphrase. */
function opensshPem(draw: Draw, publicBlob: Buffer, secret: Buffer): string {
  const check = draw.bytes(4);
  const inner = Buffer.concat([check, check, secret]);
  const padding = Buffer.from(Array.from({ length: (8 - (inner.length % 8)) % 8 }, (_, at) => at + 1));
  const body = Buffer.concat([
    Buffer.from("openssh-key-v1\0"),
    sized("none"),
    sized("none"),
    sized(""),
    Buffer.from([0, 0, 0, 1]),
    sized(publicBlob),
    sized(Buffer.concat([inner, padding])),
  ]);
  return block("OPENSSH PRIVATE KEY", body.toString("base64"), 70);
}

/** PPK version 2 without a passphrase, with its MAC. */
function puttyRsa(_: Draw, parts: Record<string, string>): string {
  const { d, p, q, qi } = parts;
  const secret = Buffer.concat([d, p, q, qi].map((part) => integer(part)));
  const comment = "imported-openssh-key";
  const macKey = createHash("sha1").update("putty-private-key-file-mac-key").digest();
  const signed = ["ssh-rsa", "none", comment, rsaBlob(parts), secret].map((part) => sized(part));
  const lines = (bytes: Buffer): string => wrap(bytes.toString("base64"), 64);
  const count = (text: string): number => text.split("\n").length;
  const [open, hidden] = [lines(rsaBlob(parts)), lines(secret)];
  return [
    "PuTTY-User-Key-File-2: ssh-rsa",
    "Encryption: none",
    `Comment: ${comment}`,
    `Public-Lines: ${count(open)}`,
    open,
    `Private-Lines: ${count(hidden)}`,
    hidden,
    `Private-MAC: ${createHmac("sha1", macKey).update(Buffer.concat(signed)).digest("hex")}`,
    "",
  ].join("\n");
}

/** An armored secret key packet of version 4 (RFC 4880, 5.5.3), not encrypted. */
function pgpKey(draw: Draw): string {
  const number = (length: number): Buffer => {
    const bytes = draw.bytes(length);
    bytes[0] = 0x80 | (bytes[0] ?? 0);
    const bits = Buffer.alloc(2);
    bits.writeUInt16BE(length * 8);
    return Buffer.concat([bits, bytes]);
  };
  const packet = Buffer.concat([
    Buffer.from([4, 0x65, ...draw.bytes(3), 1]),
    number(256),
    Buffer.from([0, 17, 1, 0, 1, 0]),
    number(256),
    number(128),
    number(128),
    number(128),
    draw.bytes(2),
  ]);
  const head = Buffer.from([0x95, packet.length >> 8, packet.length & 255]);
  const bytes = Buffer.concat([head, packet]);
  const body = `\n${wrap(bytes.toString("base64"), 64)}\n=${crc24(bytes)}`;
  return `-----BEGIN PGP PRIVATE KEY BLOCK-----\n${body}\n-----END PGP PRIVATE KEY BLOCK-----\n`;
}

export function wrap(text: string, width: number): string {
  return (text.match(new RegExp(`.{1,${width}}`, "g")) ?? []).join("\n");
}

export function block(label: string, body: string, width = 64): string {
  return `-----BEGIN ${label}-----\n${wrap(body, width)}\n-----END ${label}-----\n`;
}

/** Forty characters from the second full line of the body. */
export function pieceOf(pem: string): string {
  const lines = pem.split("\n").filter((line) => /^[A-Za-z0-9+/]{60,}$/.test(line));
  return (lines[1] ?? lines[0] ?? "").slice(4, 44);
}

/** Real keys of the run: a made-up body would not decode. */
export const rsaKeys: readonly KeyForms[] = [1, 2].map((seed) => rsaForms(newDraw(seed)));

const ec = generateKeyPairSync("ec", { namedCurve: "P-256" });
const ed25519 = generateKeyPairSync("ed25519");
const dsa = generateKeyPairSync("dsa", { modulusLength: 1024, divisorLength: 160 });

const rsa = (draw: Draw): KeyForms => draw.pick(rsaKeys);

const keyKind = (name: string, make: (draw: Draw) => string, more: Partial<Kind> = {}): Kind => ({
  name,
  variable: "PRIVATE_KEY",
  make,
  core: pieceOf,
  ...more,
});

const rsaTerm = { term: "RSA private key block" };

/** Credentials of several lines. */
export const keyKinds: Kind[] = [
  keyKind("RSA key PKCS#1", (draw) => rsa(draw).pkcs1, { ...rsaTerm, near: notRsa }),
  keyKind("RSA key PKCS#8", (draw) => rsa(draw).pkcs8, { ...rsaTerm, near: notKeys }),
  keyKind("RSA key PKCS#1 encrypted", (draw) => rsa(draw).encryptedPkcs1, rsaTerm),
  keyKind("encrypted key PKCS#8", (draw) => rsa(draw).encryptedPkcs8),
  keyKind("RSA key OpenSSH", (draw) => rsa(draw).openssh, rsaTerm),
  keyKind("OpenSSH Ed25519 key", opensshEd25519),
  keyKind("EC key", () => pemOf(ec.privateKey, "sec1")),
  keyKind("EC key PKCS#8", () => pemOf(ec.privateKey, "pkcs8")),
  keyKind("Ed25519 key PKCS#8", () => pemOf(ed25519.privateKey, "pkcs8"), {
    core: (pem) => pem.split("\n")[1]?.slice(4, 44) ?? "",
  }),
  keyKind("DSA key PKCS#8", () => pemOf(dsa.privateKey, "pkcs8")),
  keyKind("PGP key", pgpKey),
];

/** Whole files with a key in their own form. */
export const keyFileKinds: Kind[] = [
  keyKind("PuTTY key", (draw) => rsa(draw).putty, { core: (text) => text.split("\n")[12]?.slice(4, 40) ?? "" }),
  keyKind("JWK private key", (draw) => `${rsa(draw).jwk}\n`, {
    core: (text) => (JSON.parse(text) as { d: string }).d.slice(0, 40),
  }),
];

function notRsa(draw: Draw): string[] {
  const { pkcs1, publicPem, publicSsh, publicJwk, openssh, putty } = rsa(draw);
  const begin = "-----BEGIN RSA PRIVATE KEY-----";
  const end = "-----END RSA PRIVATE KEY-----";
  return [
    publicPem,
    `${publicSsh}\n`,
    `${publicJwk}\n`,
    `{"keys":[${publicJwk}]}\n`,
    `${begin}\n...\n${end}\n`,
    `${begin}\nMIIEpAIBAAKCAQEA...\n${end}\n`,
    `${begin}\n${draw.text(base64, 64)}\n${draw.text(base64, 64)}\n${end}\n`,
    `${begin}\n${"x".repeat(64)}\n${"x".repeat(64)}\n${end}\n`,
    `if (text.startsWith("${begin}")) return parse(text);\n`,
    `${begin}\n<your private key>\n${end}\n`,
    `${begin}\n\${PRIVATE_KEY}\n${end}\n`,
    `${begin}\n{{ .Values.tls.key }}\n${end}\n`,
    `const pem = /-----BEGIN (RSA |EC )?PRIVATE KEY-----[\\s\\S]+-----END (RSA |EC )?PRIVATE KEY-----/;\n`,
    `${pkcs1.split("\n").slice(0, 3).join("\n")}\n[...]\n${end}\n`,
    openssh.split("\n").slice(0, 2).join("\n"),
    putty.split("\n").slice(0, 8).join("\n"),
    block("RSA PUBLIC KEY", draw.bytes(270).toString("base64")),
  ];
}

function notKeys(draw: Draw): string[] {
  const labels = [
    "CERTIFICATE",
    "CERTIFICATE REQUEST",
    "PUBLIC KEY",
    "DH PARAMETERS",
    "EC PARAMETERS",
    "X509 CRL",
    "PKCS7",
    "AGE ENCRYPTED FILE",
    "OPENSSH PUBLIC KEY",
  ];
  return [
    ...labels.map((label) =>
      block(label, Buffer.concat([Buffer.from([0x30, 0x82, 2, 0]), draw.bytes(512)]).toString("base64")),
    ),
    block("PRIVATE KEY", draw.bytes(600).toString("base64")),
    block("OPENSSH PRIVATE KEY", draw.bytes(400).toString("base64"), 70),
    block("EC PRIVATE KEY", draw.bytes(120).toString("base64")),
    block("ENCRYPTED PRIVATE KEY", "...".repeat(3)),
    "-----BEGIN PRIVATE KEY-----\\nMIIEvQIBADANBgkqhkiG9w0BAQEFAASC...\\n-----END PRIVATE KEY-----\\n",
    pgpBlock(draw, "PUBLIC KEY BLOCK"),
    pgpBlock(draw, "SIGNATURE"),
    pgpBlock(draw, "MESSAGE"),
    "-----BEGIN PGP PRIVATE KEY BLOCK-----\n\n...\n-----END PGP PRIVATE KEY BLOCK-----\n",
    `ssh-ed25519 ${draw.bytes(51).toString("base64")} ci@acme.io\n`,
    `github.com ecdsa-sha2-nistp256 ${draw.bytes(104).toString("base64")}\n`,
    `---- BEGIN SSH2 PUBLIC KEY ----\n${wrap(draw.bytes(279).toString("base64"), 70)}\n---- END SSH2 PUBLIC KEY ----\n`,
  ];
}

function pgpBlock(draw: Draw, label: string): string {
  const bytes = draw.bytes(500);
  return `-----BEGIN PGP ${label}-----\n\n${wrap(bytes.toString("base64"), 64)}\n=${crc24(bytes)}\n-----END PGP ${label}-----\n`;
}
