import type { Found } from "../rule.ts";
import type { KeyAlgorithm, PrivateKey } from "./private-key.ts";
import { encryptedPkcs8Key, opensshKey, pkcs8Key, traditionalKey } from "./private-key.ts";

const mostLength = 16 * 1024;
const begin = /-----BEGIN ((?:[A-Z0-9]{1,12} ){0,3}PRIVATE KEY)-----/g;
/** Headers of an encrypted key, which stand before its body. */
const headers = /^[ \t]*(?:Proc-Type|DEK-Info|Comment|X-[\w-]{1,30}):[^\n]{0,200}$/gm;

/** Blocks of private keys in a text: from `-----BEGIN` to the end of `-----END …-----`. */
export function findPemBlocks(text: string): Found[] {
  const found: Found[] = [];
  for (const match of text.matchAll(begin)) {
    const bodyStart = match.index + match[0].length;
    const bodyEnd = text.indexOf("-----", bodyStart);
    if (bodyEnd < 0 || bodyEnd - bodyStart > mostLength) continue;
    const footer = /^-----END [A-Z0-9 ]{1,50}-----/.exec(text.slice(bodyEnd, bodyEnd + 70));
    if (footer === null) continue;
    found.push({
      start: match.index,
      end: bodyEnd + footer[0].length,
      groups: {
        label: match[1] ?? "",
        body: text.slice(bodyStart, bodyEnd),
      },
    });
  }
  return found;
}

/** Headers of an OpenPGP block (RFC 9580, 6.2.2). */
const armorHeaders = /^[ \t]*(?:Version|Comment|Hash|MessageID|Charset):[^\n]{0,200}$/gm;
/** The first octet of a secret key packet, in the new and the old format (RFC 9580, 4.2). */
const secretKeyPacket = new Set([0xc5, 0x94, 0x95, 0x96]);

/** The packets in the body of an OpenPGP private key block; null when it holds no private key. */
export function pgpPackets(body: string): Uint8Array | null {
  const base64 = plainLines(body)
    .replace(armorHeaders, "")
    .replace(/\s+/g, "")
    .replace(/={1,3}[A-Za-z0-9+/]{4}$/, "");
  if (!/^[A-Za-z0-9+/]{100,}={0,2}$/.test(base64)) return null;
  const packets = Buffer.from(base64, "base64");
  return secretKeyPacket.has(packets[0] ?? 0) ? packets : null;
}

/** The key in a block that `findPemBlocks` found; null when it is a placeholder or a key of no known form. */
export function keyInBlock({ label = "", body = "" }: Readonly<Record<string, string | undefined>>): PrivateKey | null {
  const lines = plainLines(body);
  const encrypted = /^[ \t]*Proc-Type:[ \t]*4,ENCRYPTED/m.test(lines);
  const base64 = lines.replace(headers, "").replace(/\s+/g, "");
  if (!/^[A-Za-z0-9+/]{40,}={0,2}$/.test(base64)) return null;
  const bytes = Buffer.from(base64, "base64");
  const algorithm = algorithmOf(label);
  if (encrypted) return bytes.length % 8 === 0 && isMixed(bytes) ? { algorithm, encrypted, bytes } : null;
  if (label === "PRIVATE KEY") return pkcs8Key(bytes);
  if (label === "ENCRYPTED PRIVATE KEY") return encryptedPkcs8Key(bytes);
  if (label === "OPENSSH PRIVATE KEY") return opensshKey(bytes);
  return traditionalKey(algorithm, bytes);
}

function algorithmOf(label: string): KeyAlgorithm {
  if (label.startsWith("RSA")) return "rsa";
  if (label.startsWith("EC")) return "ec";
  return label.startsWith("DSA") ? "dsa" : "other";
}

/** Encrypted bytes have no pattern: nearly all values occur. */
function isMixed(bytes: Uint8Array): boolean {
  return new Set(bytes).size >= Math.min(100, bytes.length / 3);
}

/** The body as a PEM file has it, without what source code, YAML or a diff puts around its lines. */
function plainLines(body: string): string {
  const broken = body
    .replace(/\\{1,4}[nrt]/g, "\n")
    .replace(/\\{1,3}(["'`])/g, "$1")
    .replace(
      /["'`][ \t]{0,8}(?:[+.,&|]|<<)?[ \t]{0,8}\\?\r?\n?[ \t]{0,64}(?:[+-][ \t]{1,64})?(?:[+.,&|]|<<)?[ \t]{0,8}["'`]/g,
      "\n",
    )
    .replace(/\\\r?\n/g, "\n");
  const lines = broken.split("\n").map((line) => line.trim());
  // In a diff every line begins with the same signs, which base64 may begin with too.
  const signs = lines.reduce((common, line) => (line === "" ? common : shared(common, line)), "+++");
  return lines
    .map((line) =>
      line
        .slice(signs.length)
        .trim()
        .replace(/^(?:#|\/\/|\*|>)(?:[ \t]+|$)/, "")
        .replace(/^["'`]|["'`][+.,;&|)\s]{0,8}$|\\$/g, ""),
    )
    .join("\n");
}

/** The common prefix of two texts. */
function shared(a: string, b: string): string {
  let length = 0;
  while (length < a.length && a[length] === b[length]) length += 1;
  return a.slice(0, length);
}
